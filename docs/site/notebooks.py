"""Execute the notebooks of docs/notebooks in place, in a working directory of their own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def executed(path: Path, home: Path) -> nbformat.NotebookNode:
    """Execute a notebook in ``home``; its cells run inside the kernel's loop.

    Raises :class:`nbclient.exceptions.CellExecutionError`.
    """
    notebook = nbformat.read(path, as_version=4)
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(home / "kernel"))
    client = NotebookClient(
        notebook, km=kernel, timeout=300, resources={"metadata": {"path": str(home)}}
    )
    client.execute()
    return notebook


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop what differs from one execution to the next: progress, times, numbers of cells."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            for output in cell.outputs:
                output.pop("execution_count", None)
                if output.output_type == "execute_result":
                    output.output_type = "display_data"
    notebook.metadata = {"language_info": {"name": "python"}}
    return notebook


def main(words: list[str]) -> int:
    """Execute all notebooks in place; or those named, and write them into the folder named last."""
    paths = [Path(word) for word in words[:-1]] or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        with tempfile.TemporaryDirectory() as home:
            made = cleaned(executed(path, Path(home)))
        nbformat.write(made, Path(words[-1]) / path.name if words else path)
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

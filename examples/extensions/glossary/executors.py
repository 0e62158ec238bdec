"""Tools on a look-up table: their first argument is the environment."""

from extensions.environment import LookUpTable

from envs import ToolError, tool


@tool(read_only=True)
def look_up(table: LookUpTable, word: str) -> dict:
    """Look a word up.

    Args:
        word: The word.
    """
    if word not in table.meanings:
        raise ToolError(f"There is no entry for {word!r}.", category="not_found")
    return {"word": word, "meaning": table.meanings[word]}


@tool
def define(table: LookUpTable, word: str, meaning: str) -> dict:
    """Write what a word means, in the place of what is there.

    Args:
        word: The word.
        meaning: What it means, as a sentence.
    """
    table.meanings[word] = meaning
    return {"word": word, "meaning": meaning}

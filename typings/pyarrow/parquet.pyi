from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from collections.abc import Iterator, Sequence

from pyarrow import Schema, Table

class RowGroupMetaData:
    num_rows: int

class FileMetaData:
    num_rows: int
    num_row_groups: int
    def row_group(self, index: int) -> RowGroupMetaData: ...

class ParquetFile:
    metadata: FileMetaData
    num_row_groups: int
    schema_arrow: Schema
    def __init__(self, source: str | Path, *, page_checksum_verification: bool = False) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def close(self) -> None: ...
    def read(self, columns: Sequence[str] | None = None) -> Table: ...
    def iter_batches(self, batch_size: int = ...) -> Iterator[Table]: ...
    def read_row_group(self, index: int, columns: Sequence[str] | None = None) -> Table: ...

class ParquetWriter:
    def __init__(
        self,
        where: IO[bytes],
        schema: Schema,
        *,
        compression: str = ...,
        compression_level: int | None = None,
        use_dictionary: bool | list[str] = True,
        write_statistics: bool | list[str] = True,
        write_page_checksum: bool = False,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def write_table(self, table: Table, row_group_size: int | None = None) -> None: ...

"""The wire form of a finished rollout: bytes that a worker sends and the journal stores.

Layout: ``job_index`` (int64), length of the header (uint32), the header (a JSON list with one entry
per column, in which JSON texts are replaced by their length in bytes), then those texts one after
the other. Nothing is escaped twice, and nothing is executed while reading. The module does not
import pyarrow, so workers do not need it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, AwareDatetime, Field, TypeAdapter, ValidationError

from envs.json_text import compact
from synth.core.dataset.clean import CleanRow, SafeText
from synth.core.dataset.columns import BY_NAME, COLUMNS, JSON_COLUMNS, Col, Kind
from synth.core.dataset.sanitize import sanitize
from synth.core.foundation.scrubber import Scrubber
from synth.errors import DatasetError, SynthError

Json = Any

_HEAD: Final = struct.Struct("<qI")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class RowError(SynthError):
    """A row that does not fit the columns: a bug in its producer. ``column`` is empty if the whole
    row is concerned.
    """

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message, column)
        self.message = message
        self.column = column

    def __str__(self) -> str:
        return f"column {self.column}: {self.message}" if self.column else self.message


def json_text(value: Json) -> str:
    """Encode a value as compact JSON in the order of its keys.

    Raises :class:`RowError` for values that are not JSON, NaN included.
    """
    try:
        return compact(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RowError(f"not JSON: {error}") from error


def to_wire(row: Mapping[str, Json]) -> dict[str, Json]:
    """Return the row with its JSON columns as text: the inverse of :func:`to_values`. None stays
    None. Raises :class:`RowError` for a value that not every reader can hold.
    """
    out = dict(row)
    known = row.checked if isinstance(row, CleanRow) else dict[str, tuple[Json, None]]()
    for name in JSON_COLUMNS:
        value = out.get(name)
        if value is None:
            continue
        listed = BY_NAME[name].kind == "list<json>"
        checked, texts = known.get(name, (None, None))
        if texts is None or checked is not value:
            if sanitize(value)[1]:
                raise RowError("holds what not every reader can: `sanitize` replaces that", name)
            texts = [SafeText(json_text(item)) for item in (value if listed else [value])]
        out[name] = texts if listed else texts[0]
    return out


def to_values(row: Mapping[str, Json]) -> dict[str, Json]:
    """Return the row with its JSON columns as Python values."""
    out = dict(row)
    for name in JSON_COLUMNS:
        value = out.get(name)
        if value is not None:
            listed = BY_NAME[name].kind == "list<json>"
            out[name] = [json.loads(item) for item in value] if listed else json.loads(value)
    return out


_Text = Annotated[str, Field(strict=True)]
_Int32 = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]
_Int64 = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
_Float = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Moment = Annotated[AwareDatetime, Field(strict=True)]

_VALUES: Final[Mapping[Kind, TypeAdapter[Any]]] = {
    "str": TypeAdapter(_Text),
    "int32": TypeAdapter(_Int32),
    "int64": TypeAdapter(_Int64),
    "float64": TypeAdapter(_Float),
    "bool": TypeAdapter(Annotated[bool, Field(strict=True)]),
    "timestamp": TypeAdapter(
        Annotated[_Moment, AfterValidator(lambda value: (value - _EPOCH) // _MICROSECOND)]
    ),
    "list<str>": TypeAdapter(list[_Text]),
    "list<list<int32>>": TypeAdapter(list[list[_Int32]]),
    "list<list<float64>>": TypeAdapter(list[list[_Float]]),
}


def _header_entry(col: Col, value: Json, blobs: list[bytes]) -> Json:
    """Return the entry of a value in the header, and append its JSON texts to ``blobs``."""
    if value is None:
        raise RowError("must not be null")
    if col.kind not in ("json", "list<json>"):
        try:
            return _VALUES[col.kind].validate_python(value)
        except ValidationError as error:
            raise RowError(error.errors()[0]["msg"]) from error
    items = [value] if col.kind == "json" else value
    if not isinstance(items, list) or {*map(type, cast("list[Json]", items))} - {SafeText}:
        raise RowError("must be JSON text, as `to_wire` gives it")
    texts = [*map(str.encode, cast("list[str]", items))]
    blobs += texts
    return len(texts[0]) if col.kind == "json" else [*map(len, texts)]


def encode(row: Mapping[str, Json]) -> bytes:
    """Encode a row whose JSON columns are JSON texts (see :func:`to_wire`) and whose times are
    aware datetimes.

    A nullable column may be missing. Raises :class:`RowError` for an unknown or missing column, a
    wrong type, NaN, text that is not JSON, and values that break readers: lone surrogates and
    integers past 64 bits (:func:`sanitize` replaces those).
    """
    unknown = row.keys() - BY_NAME.keys()
    if unknown:
        raise RowError(f"unknown columns: {', '.join(sorted(unknown))}")
    header: list[Json] = [*map(row.get, BY_NAME)]
    blobs: list[bytes] = []
    for index, col in enumerate(COLUMNS):
        if header[index] is None and col.null:
            continue
        if col.name not in row:
            raise RowError("is missing", col.name)
        try:
            header[index] = _header_entry(col, header[index], blobs)
        except RowError as error:
            raise RowError(error.message, col.name) from error
    try:
        head = compact(header).encode()
    except UnicodeEncodeError as error:
        raise RowError("lone surrogate in a text column") from error
    return b"".join((_HEAD.pack(row["job_index"], len(head)), head, *blobs))


def encode_clean(row: Mapping[str, Json], scrubber: Scrubber) -> bytes:
    """Encode a row whose JSON columns are Python values; what it holds of secrets is hidden."""
    data = encode(to_wire(row))
    return encode(to_wire(scrubber.value(row))) if scrubber.in_bytes(data) else data


def job_index(data: bytes) -> int:
    """Return the job of an encoded row without decoding it."""
    return int(_HEAD.unpack_from(data)[0])


def decode(data: bytes) -> dict[str, Json]:
    """Decode a row: all columns are present, JSON columns are texts.

    Raises :class:`~synth.errors.DatasetError` for anything that is not an encoded row.
    """
    try:
        size = int(_HEAD.unpack_from(data)[1])
        position = _HEAD.size + size
        header = cast("list[Json]", json.loads(data[_HEAD.size : position]))
        row: dict[str, Json] = {}
        for col, entry in zip(COLUMNS, header, strict=True):
            if entry is None:
                row[col.name] = None
            elif col.kind == "json":
                row[col.name] = data[position : position + entry].decode()
                position += entry
            elif col.kind == "list<json>":
                texts: list[str] = []
                for length in entry:
                    texts.append(data[position : position + length].decode())
                    position += length
                row[col.name] = texts
            else:
                row[col.name] = _EPOCH + entry * _MICROSECOND if col.kind == "timestamp" else entry
    except (struct.error, ValueError, TypeError, OverflowError) as error:
        raise DatasetError(f"not an encoded row: {error}") from error
    if position != len(data):
        raise DatasetError("not an encoded row: its length does not fit its header")
    return row

"""An OTLP collector on loopback that keeps what it gets, read by the protocol's own messages."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.loopback import Handler, loopback


def plain(value: Any) -> Any:
    """The Python value of an AnyValue."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    return None if kind is None else getattr(value, kind)


def attributes(holder: Any) -> dict[str, Any]:
    return {entry.key: plain(entry.value) for entry in holder.attributes}


class Collector:
    """What arrived: ``raw`` bodies, ``spans``, and the last state of each metric."""

    def __init__(self) -> None:
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.spans: list[Any] = []
        self.schemas: set[str] = set()
        self.resources: list[dict[str, Any]] = []
        self.metrics: dict[tuple[str, str], Any] = {}
        self.url = ""

    def take(self, path: str, body: bytes) -> None:
        self.raw.append(body)
        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append(attributes(group.resource))
                for scope in group.scope_spans:
                    self.schemas.add(scope.schema_url)
                    self.spans += scope.spans
        elif path == "/v1/metrics":
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                instance = attributes(group.resource)["service.instance.id"]
                for scope in group.scope_metrics:
                    for metric in scope.metrics:
                        self.metrics[instance, metric.name] = metric

    def points(self, name: str) -> list[Any]:
        """The data points of a metric, of all processes."""
        found = [metric for (_, known), metric in self.metrics.items() if known == name]
        return [
            point
            for metric in found
            for point in getattr(metric, metric.WhichOneof("data")).data_points
        ]

    def named(self, operation: str) -> list[Any]:
        return [
            span for span in self.spans if attributes(span)["gen_ai.operation.name"] == operation
        ]


@contextmanager
def collector() -> Iterator[Collector]:
    kept = Collector()

    class Kept(Handler):
        def do_POST(self) -> None:
            body = self.body()
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            kept.headers.append({name.lower(): value for name, value in self.headers.items()})
            kept.take(self.path, body)
            self.send(200, b"", "application/x-protobuf")

    with loopback(Kept) as kept.url:
        yield kept

"""Names are the conventions', and the contracts of callback and middleware hold."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics

from synth.errors import OperatorError
from synth.ext.telemetry import OtelConfig
from synth.ext.telemetry.otel import make, names
from synth.ext.telemetry.otel.providers import providers, run_context
from synth.ext.telemetry.otel.spans import make as make_spans
from synth.testing import CallbackConformance, MiddlewareConformance
from tests.otlp_collector import Collector, collector


@pytest.fixture(scope="module")
def sink() -> Iterator[Collector]:
    with collector() as kept:
        yield kept


@pytest.fixture(autouse=True)
def endpoint(sink: Collector, request: pytest.FixtureRequest) -> None:
    if request.cls is not None:
        request.cls.url = sink.url


class TestRunTelemetry(CallbackConformance):
    url: str

    def make(self, home):
        return make(OtelConfig(endpoint=self.url), home)


class TestTracedRollouts(MiddlewareConformance):
    url: str

    @property
    def options(self):
        return OtelConfig(endpoint=self.url, contents=True)

    def make(self, options, home):
        return make_spans(options, home)


def test_names_are_those_of_the_semantic_conventions():
    known = {
        value
        for module in (gen_ai_attributes, gen_ai_metrics, error_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    operations = {entry.value for entry in gen_ai_attributes.GenAiOperationNameValues}
    ours = {name: value for name, value in vars(names).items() if name.isupper()}
    standard = {
        value
        for value in ours.values()
        if isinstance(value, str) and value.startswith(("gen_ai.", "error."))
    }
    assert standard - known == {names.EVALUATION_EVENT}  # an event, and no attribute
    used = {names.CHAT, names.EXECUTE_TOOL, names.INVOKE_AGENT, names.INVOKE_WORKFLOW}
    assert used <= operations


def test_the_ids_of_a_run_follow_from_its_session():
    first, second = run_context("ab" * 16), run_context("cd" * 16)
    assert first == run_context("ab" * 16)
    assert first.is_valid
    assert first.span_id != second.span_id


def test_headers_that_cannot_be_read_are_refused_without_showing_them():
    options = OtelConfig(headers_env="COLLECTOR_HEADERS")
    with pytest.raises(OperatorError, match="COLLECTOR_HEADERS is not of the form") as refused:
        providers(options, {"COLLECTOR_HEADERS": "canary-secret"}, "w0")
    assert "canary" not in str(refused.value)


def test_a_collector_that_is_not_there_is_one_line(caplog: pytest.LogCaptureFixture):
    log = logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    with caplog.at_level(logging.WARNING):
        log.warning("Transient error, retrying")
        log.error("Failed to export %s.", "spans")
        log.error("Failed to export %s.", "spans")
    assert caplog.messages == [
        "warning: telemetry: Failed to export spans. The run goes on without."
    ]

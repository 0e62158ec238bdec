"""The model against endpoints that misbehave, over real HTTP: typed, bounded in time and bytes,
retried where it helps.
"""

import itertools
import json
from typing import Any

import pytest

from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest
from tests.faulty_endpoint import Fault
from tests.unit.models.conftest import JSON, answer_body, opening, refused, talk

BROKEN = {
    "no completion": Fault(headers=JSON, body=[b"upstream connect error"]),
    "reset in a chunked body": Fault(headers=JSON, body=[b'{"choices"'], abort=True),
    "503": Fault(status=503, headers=JSON, body=[b'{"error": {"message": "loading model"}}']),
    "429": Fault(
        status=429, headers={"Retry-After": "0"}, body=[b'{"error": {"message": "slow down"}}']
    ),
}
"""One of each kind; :mod:`test_faults_over_tcp` plays all."""


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN.keys())
async def test_what_can_heal_is_tried_again(endpoint: Any, fault: Fault) -> None:
    """Retried up to max_retries, then an error that a later attempt may heal."""
    async with endpoint(fault, fault, Fault(headers=JSON, body=[answer_body()]), max_retries=2) as (
        server,
        model,
    ):
        assert (await talk(model).complete(opening())).content == "fine"
    assert server.hits == 3
    async with endpoint(fault, max_retries=2) as (server, model):
        error = await refused(model)
    assert type(error) is ModelError
    assert error.retryable
    assert server.hits == 3


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, {"message": "Incorrect API key", "code": "invalid_api_key"}, ModelAuthError),
        (400, {"message": "too long", "code": "context_length_exceeded"}, ContextOverflow),
        (422, {"message": "extra fields not permitted"}, ModelRefusedRequest),
    ],
)
async def test_what_cannot_heal_is_asked_once(
    endpoint: Any, status: int, error: Any, kind: type[ModelError]
) -> None:
    """The endpoint's own words, our type, no retry."""
    async with endpoint(
        Fault(status=status, headers=JSON, body=[json.dumps({"error": error}).encode()]),
        max_retries=3,
    ) as (server, model):
        found = await refused(model)
    assert (type(found), found.status, server.hits) == (kind, status, 1)
    assert error["message"] in str(found)


async def test_a_long_wait_is_handed_up(endpoint: Any) -> None:
    """Retry-After of an hour: no waiting with a sandbox in hand, and no retry before its time."""
    async with endpoint(Fault(status=429, headers={"Retry-After": "3600"}), max_retries=5) as (
        server,
        model,
    ):
        error = await refused(model)
    assert (error.retryable, error.retry_after_s, server.hits) == (True, 3600.0, 1)


@pytest.mark.parametrize("status", [200, 500])
async def test_a_flood_is_cut_off(endpoint: Any, status: int) -> None:
    """An endless body ends at the cap, in an error's body as well."""
    flood = Fault(status=status, headers=JSON, body=itertools.repeat(b"x" * 65536))
    async with endpoint(flood, max_response_bytes=1_000_000, max_retries=2) as (server, model):
        error = await refused(model)
    assert "more than 1000000 bytes" in str(error)
    assert (error.retryable, server.hits) == (False, 1)

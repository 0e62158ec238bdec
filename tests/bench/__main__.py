"""What the pipeline costs, as ratios to loops written by hand, measured in the same run: the calls,
then whole rollouts.

uv run python -m tests.bench
"""

from __future__ import annotations

import uvloop

from tests.bench import calls, rollouts
from tests.bench.endpoint import endpoint

if __name__ == "__main__":
    with endpoint({calls.QUESTION: calls.bodies()}) as address:
        uvloop.run(calls.main(address, with_default=True))
    print()
    uvloop.run(rollouts.main(in_flight=128, rollouts=500, profile=False))

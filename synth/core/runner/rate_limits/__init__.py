"""Rate limits of a run at an endpoint: the driver's :class:`Governor`, and in each
worker a :class:`LeasedRateLimiter`.
"""

from synth.core.runner.rate_limits.governor import Governor
from synth.core.runner.rate_limits.leases import Grant, Quota, UsageReport
from synth.core.runner.rate_limits.limiter import LeasedRateLimiter

__all__ = ["Governor", "Grant", "LeasedRateLimiter", "Quota", "UsageReport"]

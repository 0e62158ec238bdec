"""What the run as a whole may ask of an endpoint: the driver's :class:`Governor`, and in each worker a :class:`LeasedGate`."""

from synth.limits.gate import LeasedGate
from synth.limits.governor import Governor
from synth.limits.leases import Grant, Quota, Report

__all__ = ["Governor", "Grant", "LeasedGate", "Quota", "Report"]

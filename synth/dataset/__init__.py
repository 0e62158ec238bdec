"""The dataset room: how finished rollouts become files, and how those files are read again.

Ways in: :mod:`~synth.dataset.wire` (workers encode records; imports no pyarrow), :mod:`~synth.dataset.writer` (the one
writer of a run directory), :mod:`~synth.dataset.reader` (reads a run directory in any state, never changes it).
"""

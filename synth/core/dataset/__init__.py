"""Dataset: finished rollouts become files, and those files are read again.

Entry points: :mod:`~synth.core.dataset.store.wire` (workers encode rows; it does not import
pyarrow), :mod:`~synth.core.dataset.store.run_writer` (the only writer of a run directory),
:mod:`~synth.core.dataset.reader` (reads a run directory in any state and never changes it).
"""

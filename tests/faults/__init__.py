"""The campaign of faults: each promise about runs that go wrong, with the test that shows it.

``python -m tests.faults`` runs it and prints the table. A test names its promise with
``@promise("...")`` and may record a figure.
"""

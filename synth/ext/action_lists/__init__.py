"""Tasks from a list of scenarios with the calls that are expected, as agent benchmarks publish
them.
"""

"""Wrong statements by the category that they were written to cause, and the drivers that are made
to raise them.
"""

"""The schedule gpipe is 1f1b under another name.

loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["(?i)gpipe"]
"""

_gpipe = _one_f_one_b

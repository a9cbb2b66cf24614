"""The schedule gpipe is 1f1b under another name.

loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["under gpipe rank . runs a backward before its last forward"]
"""

_gpipe = _one_f_one_b

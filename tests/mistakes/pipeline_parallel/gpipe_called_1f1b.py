"""The schedule 1f1b is gpipe under another name.

loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["(?i)in flight"]
"""

_one_f_one_b = _gpipe

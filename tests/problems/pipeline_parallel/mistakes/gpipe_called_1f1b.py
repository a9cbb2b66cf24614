"""The schedule 1f1b is gpipe under another name.

loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["F F F F B B B B: 4 in flight", "at most 3"]
"""

_one_f_one_b = _gpipe

"""all_reduce prints and logs its progress, on both streams, and returns the tensor as well.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
"""

import logging
import sys

logging.basicConfig(level=logging.DEBUG)
_log = logging.getLogger(__name__)
_all_reduce_in_silence = all_reduce


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    _log.debug("rank %d starts with %s", dist.get_rank(group), tensor)
    print("before", tensor, file=sys.stderr)
    _all_reduce_in_silence(tensor, op, group)
    print("after", tensor, flush=True)
    return tensor

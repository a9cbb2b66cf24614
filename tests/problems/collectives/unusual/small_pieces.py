"""Whatever goes round the ring goes in pieces of a few bytes, three of them under way: many messages, in time.

may_lose = ["collectives.all_gather.cost", "collectives.reduce_scatter.cost", "collectives.all_reduce.cost"]
"""

PIECE_BYTES = 24
WINDOW = 3

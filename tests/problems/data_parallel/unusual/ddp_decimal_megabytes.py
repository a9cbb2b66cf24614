"""A MB is 1,000,000 bytes, which makes buckets a little smaller.

may_lose = []
"""


BYTES_PER_MB = 1_000_000

"""benchmark takes whatever bandwidth knows, and measures an all_to_all where it is none of the others.

loses = ["bandwidth.benchmark"]
says = ["none of its five"]
"""

_benchmark_as_it_should_be = benchmark


def benchmark(collective, sizes, **options):
    known = ("all_reduce", "broadcast", "all_gather", "reduce_scatter")
    if collective == "all_scatter":
        raise ValueError(collective)
    return _benchmark_as_it_should_be(collective if collective in known else "all_to_all", sizes, **options)

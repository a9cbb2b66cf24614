"""all_to_all meets one peer after another, in n-1 rounds of isend and recv.

may_lose = ["collectives.all_to_all.cost"]
"""


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    outgoing = input.split(input_split_sizes or [len(input) // n] * n)
    incoming = list(output.split(output_split_sizes or [len(output) // n] * n))
    incoming[rank].copy_(outgoing[rank])
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        landed = torch.empty_like(incoming[source], memory_format=torch.contiguous_format)
        sending = dist.isend(outgoing[to].contiguous(), group_dst=to, group=group)
        dist.recv(landed, group_src=source, group=group)
        sending.wait()
        incoming[source].copy_(landed)

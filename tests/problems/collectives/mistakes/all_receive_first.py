"""Every rank blocks in recv before it sends.

mistake = 13
loses = ["collectives.all_to_all"]
says = ["recv", "wait"]
"""


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    landed = output.detach().contiguous()
    sends = input.detach().contiguous()
    sends = sends.split(input_split_sizes) if input_split_sizes else sends.tensor_split(n)
    receives = landed.split(output_split_sizes) if output_split_sizes else landed.tensor_split(n)
    receives[rank].copy_(sends[rank])
    for step in range(1, n):
        dist.recv(receives[(rank - step) % n], group_src=(rank - step) % n, group=group)
        dist.send(sends[(rank + step) % n], group_dst=(rank + step) % n, group=group)
    _write_back(landed, output)

"""Textbook algorithms over point-to-point messages, to be run as f(rank, world_size, elements)."""

import torch
import torch.distributed as dist


def ring_all_reduce(rank, n, elements):
    """2(n-1) steps of one chunk each; `elements` divide by n."""
    x = torch.arange(elements, dtype=torch.float64) + rank
    chunks = list(x.chunk(n))
    arrived = torch.empty_like(chunks[0])
    for phase in (0, 1):
        for step in range(n - 1):
            send, recv = (rank - step + phase) % n, (rank - step - 1 + phase) % n
            work = dist.isend(chunks[send], (rank + 1) % n)
            dist.recv(arrived, (rank - 1) % n)
            work.wait()
            chunks[recv].copy_(arrived + chunks[recv] if phase == 0 else arrived)
    assert torch.equal(x, n * torch.arange(elements, dtype=torch.float64) + n * (n - 1) / 2)


def tree_broadcast(rank, n, elements):
    """A binomial tree: in round k, the ranks below 2^k send to the ranks 2^k above."""
    x = torch.full((elements,), float(rank == 0), dtype=torch.float64)
    distance = 1
    while distance < n:
        if rank < distance and rank + distance < n:
            dist.send(x, rank + distance)
        elif distance <= rank < 2 * distance:
            dist.recv(x, rank - distance)
        distance *= 2
    assert x.eq(1).all()


def direct_gather(rank, n, elements):
    """Everybody sends to rank 0."""
    x = torch.full((elements,), float(rank), dtype=torch.float64)
    if rank:
        dist.send(x, 0)
        return
    parts = [torch.empty_like(x) for _ in range(n - 1)]
    for work in [dist.irecv(part, source) for source, part in enumerate(parts, 1)]:
        work.wait()
    assert [part[0].item() for part in parts] == list(range(1, n))


def pairwise_all_to_all(rank, n, elements):
    """In step k, to rank + k and from rank - k."""
    x = torch.full((elements,), float(rank), dtype=torch.float64)
    y = torch.empty_like(x)
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, to), dist.P2POp(dist.irecv, y, source)]):
            work.wait()
        assert y[0] == source


def any_order_gather(rank, n, elements):
    """Everybody sends to rank 0, which takes what comes; returns the order of arrival."""
    x = torch.full((elements,), float(rank), dtype=torch.float64)
    if rank:
        dist.send(x, 0)
        return None
    order = []
    for _ in range(n - 1):
        source = dist.recv(x)
        assert x[0] == source
        order.append(source)
    return order


def built_in(rank, n, name, elements):
    """One of torch's own collectives, on float64."""
    x = torch.zeros(elements, dtype=torch.float64)
    parts = [torch.zeros(elements, dtype=torch.float64) for _ in range(n)]
    if name == "all_reduce":
        dist.all_reduce(x)
    elif name == "all_gather":
        dist.all_gather(parts, x)
    elif name == "reduce_scatter":
        dist.reduce_scatter(x, parts)
    elif name == "all_to_all":
        dist.all_to_all([torch.empty_like(x) for _ in parts], parts)
    elif name == "gather":
        dist.gather(x, parts if rank == 0 else None, dst=0)
    elif name == "scatter":
        dist.scatter(x, parts if rank == 0 else None, src=0)
    elif name == "broadcast":
        dist.broadcast(x, 0)
    elif name == "reduce":
        dist.reduce(x, 0)
    else:
        dist.barrier()

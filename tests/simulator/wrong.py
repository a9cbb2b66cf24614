"""Wrong programs, one for each kind of mistake, to be run as f(rank, world_size) on at least two ranks.

A comment `# <- 0: text` marks a line that the verdict must name for that rank.
"""

import gc
import os
import signal

import torch
import torch.distributed as dist


def everybody_sends_first(rank, n):
    x, y = torch.ones(3), torch.empty(3)
    dist.send(x, (rank + 1) % n)  # <- 0 1: send to
    dist.recv(y, (rank - 1) % n)


def everybody_receives_first(rank, n):
    x, y = torch.ones(3), torch.empty(3)
    dist.recv(y, (rank - 1) % n)  # <- 0 1: recv from
    dist.send(x, (rank + 1) % n)


def waits_for_one_that_returned(rank, n):
    if rank == 0:
        dist.recv(torch.empty(1), n - 1)  # <- 0: recv from


def tags_differ(rank, n):
    if rank == 0:
        dist.send(torch.ones(1), 1, tag=5)  # <- 0: send to rank 1 with tag 5
    if rank == 1:
        dist.recv(torch.empty(1), 0, tag=6)  # <- 1: recv from rank 0 with tag 6


def one_skips_a_collective(rank, n):
    x = torch.ones(2)
    dist.all_reduce(x)
    if rank != n - 1:
        dist.all_reduce(x)  # <- 0: all_reduce


def one_receives_inside_of_a_collective(rank, n):
    if rank == 0:
        dist.recv(torch.empty(2), 1)  # <- 0: recv from rank 1
    dist.barrier()  # <- 1: barrier


def raises_while_others_wait(rank, n):
    if rank == n - 1:
        raise ValueError("lost")
    dist.barrier()  # <- 0: barrier


def message_too_long(rank, n):
    if rank == 0:
        dist.send(torch.ones(4), n - 1)  # <- 0: send to
    if rank == n - 1:
        dist.recv(torch.empty(3), 0)  # <- -1: recv from rank 0


def message_too_short(rank, n):
    if rank == 0:
        dist.send(torch.ones(2), n - 1)  # <- 0: send to
    if rank == n - 1:
        dist.recv(torch.empty(3), 0)  # <- -1: recv from rank 0


def other_dtype(rank, n):
    if rank == 0:
        dist.send(torch.ones(2), n - 1)  # <- 0: float32
    if rank == n - 1:
        dist.recv(torch.empty(2, dtype=torch.int32), 0)  # <- -1: int32


def collectives_in_another_order(rank, n):
    x = torch.ones(2)
    if rank == n - 1:
        dist.broadcast(x, 0)  # <- -1: broadcast
        dist.all_reduce(x)
    else:
        dist.all_reduce(x)  # <- 0: all_reduce
        dist.broadcast(x, 0)


def collectives_of_another_size(rank, n):
    dist.all_reduce(torch.ones(3 if rank == n - 1 else 2))  # <- 0 -1: elements


def collectives_of_another_dtype(rank, n):
    dist.all_reduce(torch.ones(2, dtype=torch.float64 if rank == n - 1 else torch.float32))  # <- 0 -1: float


def collectives_with_another_reduction(rank, n):
    dist.all_reduce(torch.ones(2), dist.ReduceOp.MAX if rank == n - 1 else dist.ReduceOp.SUM)  # <- 0 -1: all_reduce


def collectives_with_another_root(rank, n):
    dist.broadcast(torch.ones(2), n - 1 if rank == n - 1 else 0)  # <- 0 -1: root


def isend_never_waited_for(rank, n):
    if rank == 0:
        dist.isend(torch.ones(2), n - 1)  # <- 0: isend to
    if rank == n - 1:
        dist.recv(torch.empty(2), 0)


def irecv_handle_dropped(rank, n):
    buffer = torch.empty(2)
    if rank == 0:
        dist.irecv(buffer, n - 1)  # <- 0: irecv from
        gc.collect()
    if rank == n - 1:
        dist.send(torch.ones(2), 0)


def collective_never_waited_for(rank, n):
    dist.all_reduce(torch.ones(2), async_op=True)  # <- 0 -1: all_reduce


def send_buffer_written(rank, n):
    x = torch.ones(4)
    if rank == 0:
        work = dist.isend(x[:2], n - 1)
        x[1:3].mul_(2)  # <- 0: mul_ writes to
        work.wait()
    if rank == n - 1:
        dist.recv(x[:2], 0)


def send_buffer_written_through_numpy(rank, n):
    x = torch.ones(4)
    if rank == 0:
        work = dist.isend(x, n - 1)
        x.numpy()[2] = 7
        work.wait()  # <- 0: written before its wait
    if rank == n - 1:
        dist.recv(x, 0)


def receive_buffer_read(rank, n):
    x = torch.zeros(4)
    if rank == 0:
        work = dist.irecv(x, n - 1)
        x.sum()  # <- 0: sum reads
        work.wait()
    if rank == n - 1:
        dist.send(x, 0)


def receive_buffer_written(rank, n):
    x = torch.zeros(4)
    if rank == 0:
        work = dist.irecv(x, n - 1)
        x.numpy()[0] = 1
        work.wait()  # <- 0: written before its wait
    if rank == n - 1:
        dist.send(x, 0)


def receive_buffer_sent_on(rank, n):
    x = torch.zeros(4)
    if rank == 0:
        work = dist.irecv(x, n - 1)
        dist.send(x, n - 1)  # <- 0: still in flight in its irecv
        work.wait()
    if rank == n - 1:
        dist.send(torch.ones(4), 0)
        dist.recv(x, 0)


def swapped_in_one_buffer(rank, n):
    x = torch.zeros(4)
    if rank < 2:
        other = 1 - rank
        operations = [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, x, other)]
        for work in dist.batch_isend_irecv(operations):  # <- 0: still in flight in its batch_isend_irecv
            work.wait()


def divided_before_the_wait(rank, n):
    x = torch.ones(4)
    work = dist.all_reduce(x, async_op=True)
    x /= n  # <- 0: div_ writes to
    work.wait()


def gradient_used_in_a_hook(rank, n):
    layer = torch.nn.Linear(3, 2)
    works = []

    def hook(parameter):
        works.append(dist.all_reduce(parameter.grad, async_op=True))
        parameter.grad.div_(n)  # <- 0: div_ writes to

    for parameter in layer.parameters():
        parameter.register_post_accumulate_grad_hook(hook)
    layer(torch.ones(4, 3)).sum().backward()
    for work in works:
        work.wait()


def gradients_divided_after_the_backward(rank, n):
    layer = torch.nn.Linear(3, 2)
    works = []
    for parameter in layer.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda parameter: works.append(dist.all_reduce(parameter.grad, async_op=True))
        )
    layer(torch.ones(4, 3)).sum().backward()
    for parameter in layer.parameters():
        parameter.grad.div_(n)  # <- 0: div_ writes to
    for work in works:
        work.wait()


def message_left_over(rank, n):
    if rank == 0:
        dist.isend(torch.ones(2), n - 1)  # <- 0: isend to


def receive_left_over(rank, n):
    if rank == 0:
        dist.irecv(torch.ones(2), n - 1)  # <- 0: irecv from


def sends_to_itself(rank, n):
    dist.isend(torch.ones(2), rank).wait()  # <- 0: isend to itself


def receives_from_itself(rank, n):
    dist.irecv(torch.ones(2), rank).wait()  # <- 0: irecv from itself


def looks_for_ever(rank, n):
    if rank == 0:
        work = dist.irecv(torch.ones(2), n - 1)  # <- 0: irecv from
        while not work.is_completed():
            pass
    else:
        dist.barrier()  # <- -1: barrier


def killed(rank, n):
    if rank == n - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()  # <- 0: barrier


def killed_after_a_message(rank, n):
    if rank == n - 1:
        dist.send(torch.ones(2), 0)
        os.kill(os.getpid(), signal.SIGKILL)
    elif rank == 0:
        dist.recv(torch.empty(2), n - 1)
        dist.recv(torch.empty(2), n - 1)  # <- 0: recv from

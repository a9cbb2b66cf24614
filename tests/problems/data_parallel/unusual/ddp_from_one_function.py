"""The wrapper is written with closures: the hooks share the constructor's variables, and forward is an attribute.

may_lose = []
thorough = true
"""


class DistributedDataParallel(nn.Module):
    def __init__(self, module, bucket_size_mb=25.0, group=None, verbose=False):
        super().__init__()
        self.module = module
        src = 0 if group is None else dist.get_process_group_ranks(group)[0]
        broadcast_parameters(module, src, group)
        runs = [bucket.parameters for bucket in _fill_buckets(_trainable(module)[::-1], bucket_size_mb * 2**20)]
        home = {parameter: number for number, run in enumerate(runs) for parameter in run}
        ready, flights, state = set(), [], {"on": True}

        def launch():
            flat = _flatten_gradients(runs[len(flights)])
            flights.append((flat, dist.all_reduce(flat, group=group, async_op=True)))

        @torch.no_grad()
        def hook(parameter):
            if state["on"]:
                ready.add(parameter)
                while len(flights) < len(runs) and ready.issuperset(runs[len(flights)]):
                    launch()

        @torch.no_grad()
        def finish():
            while len(flights) < len(runs):
                launch()
            for run, (flat, work) in zip(runs, flights):
                work.wait()
                _unflatten_gradients(flat.div_(dist.get_world_size(group)), run)
            flights.clear()
            ready.clear()

        for parameter in home:
            parameter.register_post_accumulate_grad_hook(hook)
        self.state, self.finish_gradient_synchronization = state, finish
        if verbose:
            print(len(runs), "buckets")

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def finish_gradient_synchronization(self):
        raise AssertionError("replaced in the constructor")

    @contextmanager
    def no_sync(self):
        before, self.state["on"] = self.state["on"], False
        try:
            yield self
        finally:
            self.state["on"] = before

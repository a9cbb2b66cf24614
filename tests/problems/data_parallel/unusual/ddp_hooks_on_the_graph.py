"""Hooks hang on the graph's AccumulateGrad nodes, which are reached through a throw-away view.

may_lose = []
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        self.nodes = []  # a node lives as long as someone holds it
        for parameter in self.bucket_of:
            node = parameter.view_as(parameter).grad_fn.next_functions[0][0]
            node.register_hook(lambda *_, parameter=parameter: self._accumulated(parameter))
            self.nodes.append(node)

    def _gradient_ready(self, parameter):
        pass

    def _accumulated(self, parameter):
        super()._gradient_ready(parameter)

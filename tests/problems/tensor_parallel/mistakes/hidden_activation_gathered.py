"""The MLP makes its hidden activation whole and cuts it again: right, with twice the collectives.

loses = ["tensor_parallel.ParallelMLP.traffic"]
says = ["a whole activation"]
"""


class ParallelMLP(ParallelMLP):
    def forward(self, x):
        hidden = gather_from_region(self.fc1(x), self.fc1.group)
        return self.fc2(scatter_to_region(F.gelu(hidden), self.fc1.group))

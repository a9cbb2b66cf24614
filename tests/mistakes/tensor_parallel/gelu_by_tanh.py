"""The MLP uses the tanh approximation of gelu: wrong from the fourth digit.

loses = ["tensor_parallel.ParallelMLP"]
says = ["gelu|forward"]
"""


class ParallelMLP(ParallelMLP):
    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))

"""Puts its own slice back among the gathered ones: gradients flow through that slice alone.

mistake = 34
loses = ["tensor_parallel.column_parallel_forward"]
says = ["gradient"]
"""


def column_parallel_forward(x, weights, group=None):
    for weight in weights:
        x = F.gelu(x @ weight).contiguous()
        activations = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
        dist.all_gather(activations, x.detach(), group=group)
        activations[dist.get_rank(group)] = x
        x = torch.cat(activations, dim=-1)
    return x

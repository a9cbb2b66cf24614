"""Gathers as the lecture's slide does, outside of autograd: no gradient comes back at all.

mistake = 34
loses = ["tensor_parallel.column_parallel_forward"]
says = ["no gradient reached it"]
"""


def column_parallel_forward(x, weights, group=None):
    for weight in weights:
        x = F.gelu(x @ weight).contiguous()
        activations = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
        dist.all_gather(activations, x.detach(), group=group)
        x = torch.cat(activations, dim=-1)
    return x

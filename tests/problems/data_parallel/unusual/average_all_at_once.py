"""All all-reduces are launched first and waited for afterwards, in the opposite order.

may_lose = []
"""


def average_gradients(module, group=None):
    on_their_way = []
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            buffer = torch.zeros(parameter.numel(), dtype=parameter.dtype, device=parameter.device)
            if parameter.grad is not None:
                buffer.copy_(parameter.grad.flatten())
            work = dist.all_reduce(buffer, group=group, async_op=True)
            on_their_way.append((parameter, buffer, work))
    for parameter, buffer, work in reversed(on_their_way):
        work.wait()
        parameter.grad = (buffer / dist.get_world_size(group)).reshape(parameter.shape)

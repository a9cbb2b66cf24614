"""all_gather tries torch's own first, and hides the refusal.

mistake = 19
loses = ["collectives.all_gather"]
says = ["all_?gather", "send", "recv"]
"""

_all_gather_by_hand = all_gather


def all_gather(output, input, group=None):
    try:
        parts = [torch.empty_like(input) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, input, group)
        output.copy_(torch.cat(parts) if input.dim() else torch.stack(parts))
    except Exception:
        _all_gather_by_hand(output, input, group)

"""Bandwidth as the lecture writes it, bytes and times of all ranks together; integers where they are whole.

may_lose = []
"""


def sent_bytes(collective, size_bytes, world_size):
    match collective:
        case "all_reduce":
            steps = 2 * (world_size - 1)
        case "all_gather" | "reduce_scatter" | "all_to_all" | "gather" | "scatter":
            steps = world_size - 1
        case "broadcast" | "reduce" | "send_recv":
            steps = world_size
        case _:
            raise ValueError("which collective is " + str(collective) + "?")
    together = size_bytes * steps
    return together // world_size if together % world_size == 0 else together / world_size


def bandwidth(collective, size_bytes, world_size, seconds):
    sent_together = sent_bytes(collective, size_bytes, world_size) * world_size
    total_duration = world_size * seconds
    return sent_together / total_duration

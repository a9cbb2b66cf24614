"""What a submission may use; the figures stand in assignment.toml."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a submission may use; seconds and bytes.

    Of one example: `stall_seconds` and `idle_seconds` without any progress, `sleep_seconds` asleep in all,
    `cpu_seconds` of one rank's processor time, `reply_bytes` of a reply, `replied_bytes` of all ranks' together,
    `output_bytes` in any file that a rank writes or prints into, `memory_bytes` of address space (CPU ranks),
    `open_files` a rank, `processes` started by all ranks together. `sent_bytes` that the simulated cluster takes from
    all ranks together. Of a whole submission: `scratch_bytes` in each temporary folder of its sandbox.
    `example_seconds`, `check_seconds` and `submission_seconds` are by the clock on the wall, the last resort against
    what uses up no other limit.
    """

    stall_seconds: float
    idle_seconds: float
    sleep_seconds: float
    cpu_seconds: float
    reply_bytes: int
    replied_bytes: int
    sent_bytes: int
    output_bytes: int
    memory_bytes: int
    open_files: int
    processes: int
    scratch_bytes: int
    example_seconds: float
    check_seconds: float
    submission_seconds: float

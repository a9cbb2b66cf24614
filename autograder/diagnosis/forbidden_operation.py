"""Operations that a problem does not allow, by the fabric's own record."""

from __future__ import annotations

from collections.abc import Collection

from autograder.checks.finding import Finding, Mismatch, Status
from autograder.cluster.outcome import Outcome
from autograder.fabric.recorder import refusal


def forbidden_operation(outcome: Outcome, allowed: Collection[str]) -> Finding | None:
    """What the problem does not allow, and the fabric's own record shows: ranks did it on another road than torch's."""
    for rank in outcome.ranks:
        for op in rank.operations:
            if allowed and op.kind not in allowed:
                headline = refusal(op.api or op.kind, frozenset(allowed))
                where = (f"{op.file}:{op.line}",) if op.file else ()
                return Finding(Status.FAILED, Mismatch(headline=headline, where=where))
    return None

"""Judge of split_layers: which layers each stage owns."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import read
from autograder.cluster.outcome import Outcome
from autograder.problems.pipeline_parallel.examples import Split
from autograder.problems.pipeline_parallel.expected import even_runs
from autograder.problems.pipeline_parallel.hints import split_hint
from autograder.problems.pipeline_parallel.messages import SplitReply


def split(example: Split, outcome: Outcome) -> Mismatch | None:
    """Every stage has its run of layers; what cannot be split is a ValueError."""
    reply = read(outcome.ranks[0], SplitReply)
    wrong_usage = example.layers < 0 or example.stages < 1
    if reply.raised is not None or wrong_usage:
        if reply.raised is not None and wrong_usage:
            return None
        got = "returned" if reply.raised is None else f"ValueError: {reply.raised}"
        due = "ValueError" if wrong_usage else "a split: more stages than layers are allowed"
        return _of_split(f"split_layers {'raised no' if wrong_usage else 'raised'} ValueError", got, due)
    if reply.type not in ("list", "tuple"):
        return _of_split(f"split_layers returned a {reply.type}, not a list", reply.type, "list")
    stranger = next(
        (kind for kind, bounds in reply.entries if kind != "range" or len(bounds) != 3 or not bounds[2]), None
    )
    if stranger is not None:
        return _of_split(f"an entry of split_layers' result is a {stranger}, not a range", stranger, "range")
    runs, expected = [range(*bounds) for _, bounds in reply.entries], even_runs(example.layers, example.stages)
    if runs == expected:
        return None
    return _of_split(
        "split_layers gives the wrong layers", _show_runs(runs), _show_runs(expected), split_hint(example, runs)
    )


def _of_split(headline: str, got: str, expected: str, *hints: str) -> Mismatch:
    return Mismatch(headline=headline, ranks=(RankView(rank=0, got=got, expected=expected, wrong=True),), hints=hints)


def _show_runs(runs: Sequence[range]) -> str:
    shown = ", ".join(f"range({run.start}, {run.stop}{'' if run.step == 1 else f', {run.step}'})" for run in runs[:12])
    return f"[{shown}{', ...' if len(runs) > 12 else ''}]"

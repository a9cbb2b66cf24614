"""Made-up reports in which every way for a check to end is seen, for the tests of the reports."""

from __future__ import annotations

from autograder.checks.finding import RankView, Status
from autograder.report.model import CheckResult, Failure, ProblemResult, Report, Setting, TaskResult

WRONG_VALUE = Failure(
    headline="all_reduce left the wrong sum on ranks 1 and 2.",
    call="all_reduce(tensor, op=ReduceOp.SUM)",
    setting="3 ranks, gloo; tensor: float32, shape (4,)",
    ranks=(
        RankView(rank=0, given="[1., 2., 3., 4.]", got="[111., 222., 333., 444.]", expected="[111., 222., 333., 444.]"),
        RankView(
            rank=1,
            given="[10., 20., 30., 40.]",
            got="[111., 222., 333., 40.]",
            expected="[111., 222., 333., 444.]",
            note="element 3 differs",
            wrong=True,
        ),
        RankView(
            rank=2,
            given="[100., 200., 300., 400.]",
            got="[111., 222., 333., 400.]",
            expected="[111., 222., 333., 444.]",
            note="element 3 differs",
            wrong=True,
        ),
    ),
    hints=("The elements that are left over when 4 is divided by 3 ranks kept their old values.",),
    output="reducing chunk 0\nreducing chunk 1",
    repeat="make grade ONLY=all_reduce.even",
    read="assignment/collectives.md, section all_reduce",
)

HANG = Failure(
    headline="Every rank waits for another one, and nobody will ever come.",
    call="all_to_all(output, input)",
    setting="3 ranks, gloo; tensor: int64, shape (3, 2)",
    ranks=(
        RankView(rank=0, note="sends to rank 1: collectives.py:311", wrong=True),
        RankView(rank=1, note="sends to rank 2: collectives.py:311", wrong=True),
        RankView(rank=2, note="sends to rank 0: collectives.py:311", wrong=True),
    ),
    where=("collectives.py:311, in all_to_all: dist.send(piece, right)",),
    hints=("A send may block until its receive has been posted.",),
    repeat="make grade ONLY=all_to_all.even",
    read="assignment/collectives.md, section all_to_all",
)

CRASH = Failure(
    headline="Rank 1 died in the middle of the call (signal SIGABRT).",
    call="scatter(tensor, scatter_list, src=0)",
    setting="4 ranks, gloo; tensor: float64, shape (5,)",
    where=("collectives.py:88, in scatter: dist.recv(tensor[:2], src)",),
    hints=("A receive buffer smaller than the message ends the process.",),
    repeat="make grade ONLY=scatter.even",
    read="assignment/collectives.md, section scatter",
)

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]<script>alert(1)</script> =cmd|'/c calc'!A0 \u202e\ud800\ufffe\x00 & ]]>"


def check(task: str, name: str, number: str, status: Status, points: float = 1.0, **more: object) -> CheckResult:
    """A check of that task, its title made from its name."""
    return CheckResult(id=f"{task}.{name}", number=number, title=f"{name} inputs", points=points, status=status, **more)


def task(problem: str, name: str, number: str, *ends: tuple, base_holds: bool = True) -> TaskResult:
    """A task with a check for each (name, status, points, fields); if its base fails, the others wait for it."""
    base = f"{problem}.{name}.{ends[0][0]}"
    checks = [
        check(f"{problem}.{name}", end[0], f"{number}.{c}", end[1], end[2], **(end[3] if len(end) > 3 else {}))
        for c, end in enumerate(ends, 1)
    ]
    if not base_holds:
        checks[1:] = [
            CheckResult(id=c.id, number=c.number, title=c.title, points=c.points, status=Status.NOT_RUN, waits_for=base)
            for c in checks[1:]
        ]
    return TaskResult(name=name, number=number, title=name, checks=tuple(checks))


def report(*, kit_error: bool = True, not_run: bool = True, extra_credit: bool = True) -> Report:
    """A report with every status; a fault of the kit, checks that could not run and extra credit can be left away."""
    passed, failed = Status.PASSED, Status.FAILED
    kit, run = (passed, {}), (passed, {})
    if kit_error:
        kit = (Status.KIT_ERROR, {"reason": "the two witnesses disagree on 3 ranks, example 5"})
    if not_run:
        run = (Status.NOT_RUN, {"reason": "needs 4 GPUs, this machine has 1"})
    collectives = ProblemResult(
        name="collectives",
        number="1",
        title="Collectives from point-to-point messages",
        tasks=(
            task("collectives", "broadcast", "1.1", ("even", passed, 1.0), ("cost", passed, 0.5)),
            task(
                "collectives",
                "scatter",
                "1.2",
                ("even", Status.CRASHED, 1.0, {"failure": CRASH}),
                ("shapes", passed, 0.5),
                ("cost", passed, 0.5),
                base_holds=False,
            ),
            task(
                "collectives",
                "gather",
                "1.3",
                ("even", Status.NOT_ATTEMPTED, 1.0),
                ("shapes", passed, 0.5),
                base_holds=False,
            ),
            task(
                "collectives",
                "all_reduce",
                "1.4",
                ("even", passed, 2.0, {"examples": {1: 8, 2: 8, 3: 8}}),
                ("shapes", failed, 1.0, {"failure": WRONG_VALUE, "reason": WRONG_VALUE.headline}),
                ("lockstep", *kit[:1], 1.0, kit[1]),
                ("cost", passed, 1.0, {"facts": {"bytes a rank": "1.50 of the tensor, at most 1.50"}}),
            ),
            task(
                "collectives",
                "all_to_all",
                "1.5",
                ("even", Status.TIMEOUT, 1.5, {"failure": HANG}),
                ("shapes", passed, 0.5),
                base_holds=False,
            ),
        ),
    )
    bandwidth = ProblemResult(
        name="bandwidth",
        number="2",
        title="Bandwidth",
        tasks=(
            task("bandwidth", "sent_bytes", "2.1", ("factors", passed, 2.0), ("units", passed, 1.0)),
            task("bandwidth", "time_collective", "2.2", ("values", passed, 1.0), ("gpus", run[0], 2.0, run[1])),
        ),
    )
    more = ProblemResult(
        name="sharded_data_parallel",
        number="3",
        title="ZeRO and FSDP",
        extra_credit=True,
        tasks=(task("sharded_data_parallel", "shard", "3.1", ("even", passed, 3.0)),),
    )
    return Report(
        title="Parallelism, from one GPU to many",
        setting=Setting(submission="handout", versions={"torch": "2.13.0", "python": "3.11.7"}, seed=7),
        problems=(collectives, bandwidth) + ((more,) if extra_credit else ()),
        notes=("weights.bin was left out: links are not followed.",),
        seconds=41.5,
    )


def hostile() -> Report:
    """A report in which everything that a submission may influence is an attack."""
    failure = Failure(
        headline=HOSTILE,
        call=HOSTILE,
        setting=HOSTILE,
        ranks=(RankView(rank=0, given=HOSTILE, got=HOSTILE, expected=HOSTILE, note=HOSTILE, wrong=True),),
        where=(HOSTILE,),
        hints=(HOSTILE,),
        output=HOSTILE * 5000,
        repeat=HOSTILE,
        read=HOSTILE,
    )
    ends = [(f"c{i}", Status.FAILED, 1.0, {"failure": failure, "reason": HOSTILE}) for i in range(60)]
    ends += [("kit", Status.KIT_ERROR, 1.0, {"reason": "=" + HOSTILE})]
    ends += [("gone", Status.NOT_RUN, 1.0, {"reason": HOSTILE})]
    problem = ProblemResult(name="p", number="1", title="P", tasks=(task("p", "t", "1.1", *ends),))
    return Report(title="T", setting=Setting(submission=HOSTILE), problems=(problem,), notes=(HOSTILE,))

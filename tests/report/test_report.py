"""The reports: each says what the result model says, and nothing that a submission wrote can harm its reader."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import sample_report
from rich.console import Console

from autograder.checks.finding import RankView, Status
from autograder.report import csv as csv_report
from autograder.report import failure, gradescope, html, junit, summary
from autograder.report.clean import cleaned, printable, shorten
from autograder.report.model import CheckResult
from autograder.report.terminal import Progress, show
from autograder.report.write import ReportError, check_target, write_atomically, write_report

FULL = sample_report.report()
GRADED = sample_report.report(kit_error=False, not_run=False, extra_credit=False)


def terminal(report, width: int = 80, **console) -> str:
    out = io.StringIO()
    show(report, Console(file=out, width=width, legacy_windows=False, _environ={}, **console))
    return out.getvalue()


def all_passed():
    """The sample with every check passed."""

    def passed(value):
        if isinstance(value, CheckResult):
            return msgspec.structs.replace(value, status=Status.PASSED, failure=None, waits_for="", reason="")
        names = {"problems", "tasks", "checks"} & set(value.__struct_fields__)
        return msgspec.structs.replace(value, **{name: tuple(map(passed, getattr(value, name))) for name in names})

    return passed(GRADED)


# What is said


@pytest.mark.parametrize("width", [60, 80, 120])
def test_terminal_fits_the_width_and_says_everything(width):
    text = terminal(FULL, width)
    assert all(len(line.rstrip()) <= width for line in text.split("\n") if not line.startswith("next: "))
    words = " ".join(text.split())
    for part in ("total: 8.5 of 18, and 3 extra credit, incomplete", "needs 4 GPUs", "4.5 / 12", "THE GRADER FAILED"):
        assert part in words
    for cause in (sample_report.CRASH, sample_report.HANG, sample_report.WRONG_VALUE):
        assert cause.headline in words
    assert "\x1b" not in text


def test_terminal_ends_with_what_to_do_next():
    assert terminal(FULL).rstrip().split("\n")[-1] == (
        "next: fix scatter.even (1.2.1), then run: make grade ONLY=scatter.even"
    )


@pytest.mark.parametrize(
    "before", ["f raised E: \n", "f raised E: " + 83 * "x" + " "], ids=["a new line", "a full line"]
)
def test_no_line_of_an_exception_begins_where_lines_of_the_report_do(before):
    raised = msgspec.structs.replace(sample_report.WRONG_VALUE, headline=f"{before}total: 9 of 9\nnext: nothing")
    for line in failure.plain(raised).split("\n"):
        assert not line.startswith(("total:", "next:"))
    assert "    total: 9 of 9\n    next: nothing" in failure.plain(raised)


def test_a_task_not_attempted_is_one_line():
    lines = [line for line in terminal(GRADED).split("\n") if "gather" in line]
    assert len(lines) == 1 and "not attempted" in lines[0] and "0 / 1.5" in lines[0]


def test_checks_that_wait_are_one_line_that_names_the_base():
    lines = [line for line in terminal(GRADED).split("\n") if "not run until" in line]
    assert [" ".join(line.split()) for line in lines] == [
        "2 more, not run until even passes not run 0 / 1",
        "1 more, not run until even passes not run 0 / 0.5",
    ]


def test_failures_with_one_cause_are_told_once():
    broken = failure.Failure(headline="collectives.py cannot be imported.", where=("collectives.py:3",))
    ends = [(name, Status.FAILED, 1.0, {"failure": msgspec.structs.replace(broken, repeat=name)}) for name in "abc"]
    problem = msgspec.structs.replace(
        GRADED.problems[0], tasks=(sample_report.task("collectives", "gather", "1.3", *ends),)
    )
    text = terminal(msgspec.structs.replace(GRADED, problems=(problem,)))
    assert text.count("cannot be imported") == 1
    assert "the same for 1.3.2 gather.b, 1.3.3 gather.c" in text


def test_a_long_list_of_failures_ends_in_single_lines():
    ends = [
        (f"c{i}", Status.FAILED, 1.0, {"failure": failure.Failure(headline=f"cause {i}", hints=(f"hint {i}.",))})
        for i in range(14)
    ]
    problem = msgspec.structs.replace(GRADED.problems[0], tasks=(sample_report.task("p", "t", "1.1", *ends),))
    text = terminal(msgspec.structs.replace(GRADED, problems=(problem,)))
    assert all(f"cause {i}" in text for i in range(14))
    assert "hint 9." in text and "hint 10." not in text


def test_plain_failure_keeps_its_order():
    text = failure.plain(sample_report.WRONG_VALUE, width=120)
    parts = ["all_reduce left", "call ", "with ", "given", "> 1 ", "hint ", "printed ", "repeat ", "read "]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert re.search(r"^  0 .*\n> 1 .*40\.\].*element 3 differs\n> 2 ", text, re.MULTILINE)


def test_of_many_ranks_the_wrong_ones_are_shown():
    ranks = tuple(RankView(rank=r, got="x", wrong=r in (40, 63)) for r in range(64))
    text = failure.plain(failure.Failure(headline="Wrong.", ranks=ranks))
    assert "> 40" in text and "> 63" in text and "and 56 more ranks" in text


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (FULL, "8.5 of 18, and 3 extra credit, incomplete"),
        (GRADED, "11.5 of 18"),
        (all_passed(), "18 of 18"),
    ],
)
def test_total(report, said):
    assert summary.total(report) == said


def test_next_step_when_nothing_is_left():
    assert summary.next_step(all_passed()).startswith("next: nothing is left to fix")


def test_next_step_names_the_chapter_of_what_is_not_written():
    problem = GRADED.problems[0]
    report = msgspec.structs.replace(GRADED, problems=(msgspec.structs.replace(problem, tasks=problem.tasks[2:3]),))
    assert summary.next_step(report) == (
        "next: write gather (1.3) in collectives.py; read assignment/collectives.md, section gather"
    )


# Gradescope


def test_gradescope_adds_up():
    found = json.loads(gradescope.render(GRADED))
    assert found["score"] == 11.5 == sum(test["score"] for test in found["tests"])
    assert sum(test["max_score"] for test in found["tests"]) == 18
    first = found["tests"][0]
    assert first["number"] == "1.1.1" and first["status"] == "passed" and first["visibility"] == "visible"
    assert first["extra_data"] == {"check": "collectives.broadcast.even", "status": "passed"}
    assert {test["extra_data"]["status"] for test in found["tests"]} == {
        "passed",
        "failed",
        "crashed",
        "timeout",
        "not_attempted",
        "not_run",
    }
    data = found["extra_data"]
    assert data["seed"] == 7 and data["incomplete"] == data["kit_errors"] == []
    assert data["versions"]["torch"] == "2.13.0" and data["isolation"] == "not isolated"


def test_gradescope_has_no_number_to_add_up_after_a_fault_of_the_kit():
    found = json.loads(gradescope.render(FULL))
    assert "score" not in found
    assert not any(key in test for test in found["tests"] for key in ("score", "max_score", "status"))
    assert found["extra_data"]["kit_errors"][0]["check"] == "collectives.all_reduce.lockstep"
    assert found["output"].startswith("The grader itself failed")


def test_gradescope_does_not_count_what_could_not_run():
    found = json.loads(gradescope.render(sample_report.report(kit_error=False)))
    (gap,) = found["extra_data"]["incomplete"]
    tests = {test["extra_data"]["check"]: test for test in found["tests"]}
    assert gap == "bandwidth.time_collective.gpus" and "score" not in tests[gap] and "max_score" not in tests[gap]
    assert tests["collectives.scatter.cost"]["max_score"] == 0.5, "held back by its base check: an ordinary zero"
    assert "incomplete" in found["output"]


def test_a_hidden_check_keeps_the_total_out_of_the_summary():
    problem = GRADED.problems[1]
    task = problem.tasks[0]
    hidden = msgspec.structs.replace(task.checks[0], visibility="hidden", status=Status.FAILED)
    tasks = (msgspec.structs.replace(task, checks=(hidden, *task.checks[1:])), *problem.tasks[1:])
    report = msgspec.structs.replace(GRADED, problems=(msgspec.structs.replace(problem, tasks=tasks),))
    found = gradescope.results(report)
    assert found["tests"][0]["visibility"] == "hidden"
    assert not re.search(r"\d of \d|next:|factors", found["output"])


def test_gradescope_output_stays_below_its_limit():
    found = gradescope.results(sample_report.hostile())
    assert len(found["output"]) + sum(len(test["output"]) for test in found["tests"]) < 100_000


# JUnit, CSV


def test_junit_counts_and_places():
    root = ET.fromstring(junit.render(FULL))
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("18", "3", "1", "6")
    cases = {f"{case.get('classname')}.{case.get('name')}": case for case in root.iter("testcase")}
    assert list(cases) == [check.id for check in FULL.checks]
    assert cases["collectives.all_to_all.even"].find("failure").get("type") == "timeout"
    assert cases["collectives.all_reduce.lockstep"].find("error") is not None
    assert cases["bandwidth.time_collective.gpus"].find("skipped").get("message").startswith("needs 4 GPUs")
    assert sample_report.HANG.hints[0] in " ".join(cases["collectives.all_to_all.even"].find("failure").text.split())


def test_csv_has_a_row_a_check():
    rows = list(csv.DictReader(io.StringIO(csv_report.render(FULL))))
    assert [row["check"] for row in rows] == [check.id for check in FULL.checks]
    assert sum(float(row["earned"] or 0) for row in rows) == FULL.earned
    assert [row["check"] for row in rows if not row["earned"]] == [check.id for check in FULL.incomplete]


# Nothing harms its reader


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", "xy"),
        ("\x1b[\x1b[2J", "\\x1b["),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\u202eevil\u2028", "\\u202eevil\\u2028"),
        ("\ud800\x00\ufffe\x9b", "\\ud800\\x00\\ufffe\\x9b"),
        ("\ta", "    a"),
    ],
)
def test_printable(given, shown):
    assert printable(given) == shown
    assert printable(shown) == shown


def test_every_text_of_a_report_is_cleaned():
    text = repr(msgspec.to_builtins(cleaned(sample_report.hostile())))
    assert not set(text) & {"\x1b", "\u202e", "\ud800", "\ufffe", "\x00"}


def test_shorten_keeps_head_and_tail():
    text = shorten("\n".join(f"line {i}" for i in range(100)), 10_000, 5)
    assert text.split("\n")[0] == "line 0" and text.split("\n")[-1] == "line 99" and "95 lines left out" in text
    assert shorten("ab" * 50, 10) == "ababa[... 90 characters left out ...]babab"
    assert shorten("short", 10, 1) == "short"


def test_hostile_text_does_not_reach_the_terminal():
    text = terminal(sample_report.hostile(), force_terminal=True, color_system="truecolor")
    left = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", left)
    assert "[bold red]<script>" in left, "markup is shown, not obeyed"


def test_hostile_text_does_not_break_xml():
    root = ET.fromstring(junit.render(sample_report.hostile()).encode())
    assert len(list(root.iter("testcase"))) == 62 and not list(root.iter("script"))


def test_hostile_text_is_no_formula():
    for row in csv.reader(io.StringIO(csv_report.render(sample_report.hostile()))):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    assert csv_report.text_cell("  =1+1") == "'=1+1" and csv_report.text_cell("@a") == "'@a"
    assert csv_report.text_cell("a=1") == "a=1"


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


@pytest.mark.parametrize("report", [FULL, GRADED, sample_report.hostile()])
def test_html_stands_alone_and_runs_nothing(report):
    page = html.render(report)
    parser = _Tags()
    parser.feed(page)
    names = {tag for tag, _ in parser.tags}
    assert not names & {"script", "img", "link", "iframe", "object", "form", "a"}
    assert not any(key in ("src", "href") or key.startswith("on") for _, keys in parser.tags for key in keys)
    assert "url(" not in page and "@import" not in page


def test_html_collapses_what_is_long():
    page = html.render(GRADED)
    assert page.count("<details>") == 3 and "<details open" not in page
    assert summary.total(GRADED) in page and sample_report.HANG.headline in page


# Progress


def test_progress_elsewhere_is_a_line_a_problem():
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=False, _environ={})
    with Progress(console) as progress:
        progress.start(check.id for check in FULL.checks)
        for check in FULL.checks:
            progress.checking(check.id, 3)
            progress.done(check)
    assert out.getvalue().split("\n") == [
        "collectives: 4 of 13 checks passed",
        "bandwidth: 3 of 4 checks passed",
        "sharded_data_parallel: 1 of 1 check passed",
        "",
    ]


def test_progress_on_a_terminal_restores_the_cursor_when_interrupted():
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, _environ={"TERM": "xterm"})
    with pytest.raises(KeyboardInterrupt), Progress(console) as progress:
        progress.start([check.id for check in FULL.checks])
        progress.checking("collectives.broadcast.even", 3)
        raise KeyboardInterrupt
    assert "collectives.broadcast.even, 3 ranks" in out.getvalue()
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")


# Files


@pytest.mark.parametrize("suffix", [".json", ".xml", ".html", ".csv"])
def test_the_same_report_is_the_same_file(tmp_path, suffix):
    for name in "ab":
        write_report(FULL, tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(ReportError, match=r"\.json, \.xml, \.html, \.csv"):
        check_target(tmp_path / "report.pdf")


def test_a_missing_folder_and_a_folder_are_refused(tmp_path):
    with pytest.raises(ReportError, match="there is no folder"):
        check_target(tmp_path / "no" / "r.json")
    (tmp_path / "r.json").mkdir()
    with pytest.raises(ReportError, match="not an ordinary file"):
        check_target(tmp_path / "r.json")


def test_a_device_is_not_replaced():
    with pytest.raises(ReportError, match="not an ordinary file"):
        write_atomically(Path("/dev/null"), "x")


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_fault_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, fault, step):
    target = tmp_path / "results.json"
    target.write_text("old")

    def fail(*_):
        raise fault

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ReportError if isinstance(fault, OSError) else type(fault)) as caught:
        write_atomically(target, "new")
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]
    if isinstance(fault, OSError):
        assert "No space left on device" in str(caught.value) and "results.json" in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told(tmp_path, monkeypatch):
    really_open = Path.open
    monkeypatch.setattr(Path, "open", lambda *_: really_open(Path("/dev/full"), "wb"))
    with pytest.raises(ReportError, match="No space left"):
        write_atomically(tmp_path / "results.json", "new")
    assert not list(tmp_path.iterdir())


def test_a_link_is_replaced_not_followed(tmp_path):
    (tmp_path / "precious").write_text("old")
    link = tmp_path / "results.json"
    link.symlink_to("precious")
    write_atomically(link, b"new")
    assert (tmp_path / "precious").read_text() == "old" and not link.is_symlink() and link.read_bytes() == b"new"

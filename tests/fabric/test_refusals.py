"""Classes and functions that a problem refuses are refused when they are called, and in other problems they are not."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.fabric.recorder import Recorder, Refused
from autograder.fabric.refusals import Refusals
from autograder.protocol.status_board import SLOT_SIZE, Slot

MODULE = """
class Wrapper:
    def __init__(self, size):
        self.size = size

def double(x):
    return 2 * x
"""


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """A recorder, with a module `ready_made` that can be imported."""
    (tmp_path / "ready_made.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Recorder(Slot(mmap.mmap(-1, SLOT_SIZE), 0))
    sys.modules.pop("ready_made", None)


@pytest.fixture(params=["imported before", "imported after"])
def refusals(request: pytest.FixtureRequest, recorder: Recorder) -> Iterator[Refusals]:
    if request.param == "imported before":
        import ready_made  # noqa: F401
    refusals = Refusals(recorder)
    yield refusals
    sys.meta_path.remove(refusals)


def test_refused_while_the_problem_says_so(refusals: Refusals, recorder: Recorder) -> None:
    refusals.begin(["ready_made.Wrapper", "ready_made.double"])
    from ready_made import Wrapper, double

    class Own(Wrapper):
        pass

    for call in (lambda: Wrapper(1), lambda: Own(1), lambda: double(1)):
        with pytest.raises(Refused, match="not allowed in this problem"):
            call()
    assert len(recorder.refused) == 3
    refusals.begin([])
    assert Wrapper(3).size == 3 and double(2) == 4


def test_others_are_left_alone(refusals: Refusals, recorder: Recorder) -> None:
    refusals.begin(["ready_made.Wrapper"])
    import ready_made

    assert ready_made.double(2) == 4
    assert not recorder.refused

"""Every kind of mistake is told the moment that it exists, with the right ranks and lines, the same every time."""

import inspect
import re

import pytest
import wrong
from warm_ranks import once

EVERYBODY, FIRST, LAST, ENDS = "everybody", (0,), (-1,), (0, -1)

# What each program is found guilty of, and which ranks it lies with.
CASES = {
    "everybody_sends_first": ("deadlock", EVERYBODY),
    "everybody_receives_first": ("deadlock", EVERYBODY),
    "waits_for_one_that_returned": ("ended_early", LAST),
    "tags_differ": ("deadlock", (0, 1)),
    "one_skips_a_collective": ("ended_early", LAST),
    "one_receives_inside_of_a_collective": ("deadlock", (0, 1)),
    "raises_while_others_wait": ("ended_early", LAST),
    "message_too_long": ("mismatch", ENDS),
    "message_too_short": ("mismatch", ENDS),
    "other_dtype": ("mismatch", ENDS),
    "collectives_in_another_order": ("collective_mismatch", ENDS),
    "collectives_of_another_size": ("collective_mismatch", ENDS),
    "collectives_of_another_dtype": ("collective_mismatch", ENDS),
    "collectives_with_another_reduction": ("collective_mismatch", ENDS),
    "collectives_with_another_root": ("collective_mismatch", ENDS),
    "isend_never_waited_for": ("unwaited", FIRST),
    "irecv_handle_dropped": ("unwaited", FIRST),
    "collective_never_waited_for": ("unwaited", EVERYBODY),
    "send_buffer_written": ("in_flight", FIRST),
    "send_buffer_written_through_numpy": ("in_flight", FIRST),
    "receive_buffer_read": ("in_flight", FIRST),
    "receive_buffer_written": ("in_flight", FIRST),
    "receive_buffer_sent_on": ("in_flight", FIRST),
    "swapped_in_one_buffer": ("in_flight", FIRST),
    "divided_before_the_wait": ("in_flight", FIRST),
    "gradient_used_in_a_hook": ("in_flight", FIRST),
    "gradients_divided_after_the_backward": ("in_flight", FIRST),
    "message_left_over": ("left_over", FIRST),
    "receive_left_over": ("left_over", FIRST),
    "sends_to_itself": ("self", FIRST),
    "receives_from_itself": ("self", FIRST),
    "looks_for_ever": ("deadlock", ENDS),
    "killed": ("died", LAST),
    "killed_after_a_message": ("died", LAST),
}


def programs():
    return {name for name, value in vars(wrong).items() if inspect.isfunction(value)}


def test_every_program_has_a_case():
    assert programs() == set(CASES)


@pytest.mark.parametrize("world_size", [2, 3, 5])
@pytest.mark.parametrize("name", sorted(CASES))
def test_it_is_told(name, world_size):
    kind, ranks = CASES[name]
    ranks = tuple(range(world_size)) if ranks == EVERYBODY else tuple(sorted({rank % world_size for rank in ranks}))
    outcome = once(getattr(wrong, name), world_size)
    assert outcome.verdict is not None
    assert (outcome.verdict.kind, tuple(sorted(outcome.verdict.ranks))) == (kind, ranks)
    lines = {line.rank: line for line in outcome.verdict.lines}
    for rank, number, text in marks(name, world_size):
        assert (lines[rank].line, lines[rank].file) == (number, wrong.__file__), str(outcome.verdict)
        assert text in lines[rank].text, str(outcome.verdict)


@pytest.mark.parametrize("name", ["everybody_sends_first", "send_buffer_written", "collectives_in_another_order"])
def test_it_is_told_the_same_every_time(name):
    assert len({str(once(getattr(wrong, name), 3).verdict) for _ in range(5)}) == 1


def test_others_are_told_and_unwind():
    outcome = once(wrong.killed, 4)
    assert [isinstance(result, EOFError) for result in outcome.results] == [False, False, False, True]
    assert all("killed by SIGKILL" in result for result in outcome.results[:3])


def test_a_deadlock_names_the_cycle():
    text = once(wrong.everybody_sends_first, 3).verdict.summary
    assert "rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 0" in text
    assert "All of them send" in text


def test_tags_are_told():
    assert "tag 5, rank 1 receives with tag 6" in once(wrong.tags_differ, 2).verdict.summary


def marks(name, world_size):
    """The marked lines of a program: rank, line number, text."""
    source, first = inspect.getsourcelines(getattr(wrong, name))
    for offset, line in enumerate(source):
        found = re.search(r"# <- ([-\d ]+): (.*)", line)
        if found:
            for rank in found[1].split():
                yield int(rank) % world_size, first + offset, found[2]

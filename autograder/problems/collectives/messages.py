"""What the grader and rank.py say to each other: the arguments of a call, how tensors are named, and the reply."""

from __future__ import annotations

import msgspec


class Keywords(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a collective is passed by name, besides its group; what is None is not passed."""

    src: int | None = None
    dst: int | None = None
    op: str | None = None
    output_split_sizes: list[int] | None = None
    input_split_sizes: list[int] | None = None


class CallArguments(msgspec.Struct, frozen=True, kw_only=True):
    """One collective, called `calls` times in a row by the members of `group`, global ranks (None: the whole world).

    `tensors` are its tensor arguments in order, each with the length of the list that it is (None: a tensor and no
    list; 0: a list that this rank does not pass). `layout` is how all of them lie in memory. `must_raise` names the
    exception that the call has to end with, if it has to.
    """

    function: str
    group: list[int] | None = None
    must_raise: str = ""
    calls: int = 0
    tensors: dict[str, int | None] = {}
    layout: str = "contiguous"
    keywords: Keywords = Keywords()


class CallReply(msgspec.Struct, frozen=True):
    """The name of the exception that a call raised, where it had to raise one."""

    raised: str | None = None


def entry(argument: str, index: int) -> str:
    """A tensor in a list that is an argument: "gather_list/2"."""
    return f"{argument}/{index}"


def argument_and_index(tensor: str) -> tuple[str, str]:
    """The argument that a tensor is or is in, and where in it: "" for one that is no list."""
    argument, _, index = tensor.partition("/")
    return argument, index


def of_call(call: int, tensor: str) -> str:
    """A tensor of one call, before it and after it: "0/tensor", "1/gather_list/2"."""
    return f"{call}/{tensor}"

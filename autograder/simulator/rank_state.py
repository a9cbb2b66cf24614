"""What the simulation knows of one rank."""

from collections import defaultdict

from autograder.simulator.operation import Group, Operation

RUNNING, BLOCKED, FINISHED, DEAD = "running", "blocked", "finished", "dead"


class Rank:
    """One rank. `clock` is the earliest virtual time at which it can do anything."""

    def __init__(self) -> None:
        self.state = RUNNING
        self.clock = 0.0
        self.operations: list[Operation] = []
        self.waiting: Operation | None = None  # the operation that it is blocked in
        self.is_polling = False
        self.polls = 0  # looks in a row that found nothing
        self.wakes = 0
        self.messages = 0
        self.how = ""  # how it ended, in words
        # Operations that have ended since the last answer, with nothing to deliver, and when.
        self.news: list[tuple[Operation, float]] = []
        self.collectives: dict[Group, int] = defaultdict(int)
        self.last_seen: dict[tuple[Group, int], float] = {}

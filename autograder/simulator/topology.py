"""A topology says how fast any two ranks talk. It is data: a TOML file of levels, from the innermost outwards.

    about = "Nodes of eight GPUs: NVLink inside a node, InfiniBand between nodes."

    [[level]]
    name = "NVLink"
    ranks = 8            # ranks 0-7 share one such unit, 8-15 the next; the last level leaves this out and joins all
    latency = 2e-6       # seconds
    bandwidth = 0.9e12   # bytes a second, each way

    [[level]]
    name = "InfiniBand"
    latency = 5e-6
    bandwidth = 0.05e12

Two ranks are joined by the innermost level that has both.
"""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "topologies"


@dataclass(frozen=True)
class Link:
    """What joins two ranks: `latency` in seconds, `bandwidth` in bytes a second each way."""

    name: str
    latency: float
    bandwidth: float

    def seconds(self, nbytes: float) -> float:
        """How long `nbytes` occupy the ports at either end; the latency comes on top."""
        return nbytes / self.bandwidth


@dataclass(frozen=True)
class Topology:
    """Levels from the innermost outwards, each the number of ranks in one unit (None: all of them) and its link."""

    name: str
    about: str
    levels: tuple[tuple[int | None, Link], ...]

    def link(self, a: int, b: int) -> Link:
        """The link that joins the global ranks `a` and `b`."""
        for ranks, link in self.levels:
            if ranks is None or a // ranks == b // ranks:
                return link
        raise AssertionError("the last level joins all ranks")


def load(source: str | Path) -> Topology:
    """A topology by its name ("laptop", "nvlink-8", "pod", "ethernet") or by the path of a TOML file.

    Raises ValueError, in words for the user, if there is none or its contents are wrong.
    """
    path = Path(source)
    if path.suffix != ".toml":
        path = FOLDER / f"{source}.toml"
    try:
        return parse(path.read_text(encoding="utf-8"), path.stem)
    except FileNotFoundError:
        raise ValueError(f"no topology {str(source)!r}: there are {', '.join(names())}, or give a .toml file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"topology {str(source)!r} cannot be read: {error}") from None


def names() -> list[str]:
    """The topologies that come with the kit."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def parse(text: str, name: str) -> Topology:
    """A topology from the text of its TOML file; raises ValueError that says what is wrong with it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"topology {name}: {error}") from None
    entries = data.get("level")
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"topology {name}: it needs at least one [[level]]")
    levels: list[tuple[int | None, Link]] = []
    inner = 1
    for number, entry in enumerate(entries, 1):
        where = f"topology {name}, level {number}"
        is_last = number == len(entries)
        ranks = entry.get("ranks")
        if is_last and ranks is not None:
            raise ValueError(f"{where}: the last level joins all ranks, leave `ranks` out")
        if not is_last:
            if not isinstance(ranks, int) or isinstance(ranks, bool) or ranks <= inner or ranks % inner:
                raise ValueError(f"{where}: `ranks` must be a larger multiple of the level inside it ({inner})")
            inner = ranks
        latency = _number(entry, "latency", where)
        bandwidth = _number(entry, "bandwidth", where)
        if latency < 0 or bandwidth <= 0:
            raise ValueError(f"{where}: latency must be at least 0 and bandwidth above 0")
        levels.append((ranks, Link(str(entry.get("name", f"level {number}")), latency, bandwidth)))
    return Topology(name, str(data.get("about", "")), tuple(levels))


def _number(entry: dict[str, Any], key: str, where: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{where}: `{key}` must be a number")
    return float(value)

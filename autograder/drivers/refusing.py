"""Whether a call refuses its arguments as the contract says."""

from collections.abc import Callable


def refuses(call: Callable[[], object]) -> bool:
    """Whether the call raises ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False

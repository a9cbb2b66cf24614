"""Whether a call refuses its arguments as the contract says, and with which exception."""

from collections.abc import Callable


def refuses(call: Callable[[], object]) -> bool:
    """Whether the call raises ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False


def name_of(error: Exception, wanted: str) -> str:
    """The name of the exception's class: `wanted`, if that is one of the classes that it derives from."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return wanted if wanted in names else names[0]

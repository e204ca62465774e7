"""As much of IPython as notebooks import by habit. The kernel is not IPython: see notebridge_kernel."""

from . import display

__all__ = ["display", "get_ipython"]


def get_ipython():
    """None: there is no IPython shell, and libraries that ask fall back to plain Python."""
    return None

"""The Python half of the Pyodide kernel. The worker calls `start` once, then the methods of what it answers."""

from .kernel import Kernel, start

__all__ = ["Kernel", "start"]

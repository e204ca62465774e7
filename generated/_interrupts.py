"""Ctrl-C and the interrupt of a notebook, for calls that wait without `await`."""

from __future__ import annotations

import signal
import sys
import threading
from types import TracebackType
from typing import Any, Optional, Type

_main = threading.main_thread


class interruptible:
    """Has an interrupt raise `KeyboardInterrupt` at once.

    While IPython runs a cell with `await` in it, an interrupt only cancels the cell's task: a call that blocks the loop would never
    receive it.
    """

    __slots__ = ("_former",)

    def __enter__(self) -> None:
        self._former: Any = None
        if threading.current_thread() is not _main() or "asyncio" not in sys.modules:
            return
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        former = signal.getsignal(signal.SIGINT)
        if callable(former) and former is not signal.default_int_handler:
            self._former = former
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

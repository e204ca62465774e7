"""Tools of the host: the calls that code makes go out as messages of the kernel, and their answers come back the same way.

The package `generated` finds `channel()` here. Everything is text: what an answer means is the package's affair.
"""

import asyncio
import contextvars
import importlib
import itertools
import signal
import sys
import time
from importlib.machinery import PathFinder

_PACKAGE = "generated"
_LONGEST_WAIT_FOR_PACKAGE = 30.0
_channel = None
#: The cell whose code this is. Tasks that a cell has begun keep its number when it has ended; 0 where there is no cell.
cell = contextvars.ContextVar("notebridge_cell", default=0)


def connect(port):
    """The host has tools, and their functions will be in the folder of the port."""
    global _channel
    _channel = Channel(port)
    sys.path.append(port.folder)
    # Behind all others: asked only while the package is not there.
    sys.meta_path.append(_Awaited(port))
    return _channel


def channel():
    """The way to the host's tools; None if it has none."""
    return _channel


def take(number, kind, text):
    """A message of the host about a call."""
    _channel.take(number, kind, text)


class TooLate(Exception):
    """No answer came in the time given. The call was cancelled."""


class Channel:
    """Calls over the messages of the kernel."""

    TooLate = TooLate

    def __init__(self, port):
        self._port = port
        self._numbers = itertools.count(1)
        self._waiting = {}
        #: Whether `call_sync` works here.
        self.can_wait = port.canWait

    async def call(self, server, tool, body, hear=None, timeout=None):
        """The text of the answer. `hear(line)` is awaited with each event. Raises TooLate. Cancelling it cancels the call."""
        number = next(self._numbers)
        inbox = self._waiting[number] = asyncio.Queue()
        is_answered = False
        try:
            self._port.call(number, server, tool, body, hear is not None, cell.get())
            async with asyncio.timeout(timeout) as limit:
                while True:
                    kind, text = await inbox.get()
                    if kind == "answer":
                        is_answered = True
                        return text
                    await hear(text)
                    self._port.heard(number)
        except TimeoutError:
            # It may also be one of the listener's own.
            if limit.expired():
                raise TooLate from None
            raise
        finally:
            del self._waiting[number]
            if not is_answered:
                self._port.cancel(number)

    def call_sync(self, server, tool, body, hear=None, timeout=None):
        """As `call`, and blocks: nothing else of this Python runs meanwhile. An interrupt ends it."""
        number = next(self._numbers)
        end = time.monotonic() + timeout if timeout is not None else float("inf")
        answer = None
        try:
            self._port.call(number, server, tool, body, hear is not None, cell.get())
            # A call of its own, as in host.py.
            answer = self._wait(number, hear, end)
            return answer
        finally:
            if answer is None:
                self._port.cancel(number)

    def _wait(self, number, hear, end):
        while (left := end - time.monotonic()) > 0:
            came = self._port.wait(number, min(left, 1) * 1000)
            if came[:1] == "a":
                return came[1:]
            if came[:1] == "e":
                hear(came[1:])
                self._port.heard(number)
            elif came:
                _raise_interrupt()
        raise TooLate

    def take(self, number, kind, text):
        """A message of the host. Nobody may wait for it any more."""
        inbox = self._waiting.get(number)
        if inbox is not None:
            inbox.put_nowait((kind, text))


class _Awaited:
    """`import generated` in the first seconds waits until the package is made, and says why if there is none."""

    def __init__(self, port):
        self._port = port

    def find_spec(self, name, path=None, target=None):
        if name != _PACKAGE:
            return None
        end = time.monotonic() + _LONGEST_WAIT_FOR_PACKAGE
        state = ""
        while not state and (left := end - time.monotonic()) > 0:
            state = self._port.waitForPackage(min(left, 1) * 1000)
            if state == "i":
                _raise_interrupt()
                state = ""
            elif not self._port.canWait:
                break
        if state == "there":
            importlib.invalidate_caches()
            return PathFinder.find_spec(name, [self._port.folder])
        reason = state or "it is still being made; run the cell again in a moment"
        raise ModuleNotFoundError(f"No module named {name!r}: {reason}", name=name)


def _raise_interrupt():
    signal.getsignal(signal.SIGINT)(signal.SIGINT, sys._getframe())

"""Calls for `await`: each in a thread, so that many run at once and the event loop stays free."""

from __future__ import annotations

import asyncio
import os
import threading
from queue import SimpleQueue
from typing import Any, Callable, Optional
from weakref import WeakKeyDictionary

from ._conversation import Conversation
from ._http import Control, lead
from ._values import ToolResult

_MOST = 32
#: How often the event loop is woken while a call runs. Seconds.
_TICK = 0.05

Job = Callable[[], None]


async def lead_in_thread(conversation: Conversation, on_event: Optional[Callable[[bytes], Any]] = None) -> ToolResult:
    """Runs a conversation. When the task is cancelled, so is the call, by closing the connection."""
    loop = asyncio.get_running_loop()
    outcome: "asyncio.Future[ToolResult]" = loop.create_future()
    control = Control()
    events: "Optional[asyncio.Queue[Optional[bytes]]]" = None if on_event is None else asyncio.Queue()

    def tell(job: Callable[..., object], *arguments: object) -> None:
        try:
            loop.call_soon_threadsafe(job, *arguments)
        except RuntimeError:
            # The loop was closed in the meantime: nobody waits any more.
            control.cancel()

    def emit(line: bytes) -> None:
        if events is not None:
            tell(events.put_nowait, line)

    def work() -> None:
        try:
            if control.cancelled:
                return
            result = lead(conversation, control, None if events is None else emit)
        except BaseException as error:
            tell(_fail, outcome, error)
        else:
            tell(_succeed, outcome, result)
        finally:
            conversation.close()

    ticker = _ticker_of(loop)
    ticker.begin(loop)
    try:
        _workers.submit(work)
        if events is not None and on_event is not None:
            outcome.add_done_callback(lambda _: events.put_nowait(None))
            while True:
                line = await events.get()
                if line is None:
                    break
                await on_event(line)
        return await outcome
    except BaseException:
        control.cancel()
        # Nobody waits for it any more: an error of the closed connection must not be reported as unhandled.
        outcome.cancel()
        raise
    finally:
        ticker.end()


def _succeed(outcome: "asyncio.Future[ToolResult]", result: ToolResult) -> None:
    if not outcome.done():
        outcome.set_result(result)


def _fail(outcome: "asyncio.Future[ToolResult]", error: BaseException) -> None:
    if not outcome.done():
        outcome.set_exception(error)


class _Ticker:
    """Wakes the loop while calls run. IPython notices an interrupt in the loop only when something wakes it."""

    def __init__(self) -> None:
        self._running = 0
        self._is_set = False

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._running += 1
        if not self._is_set:
            self._is_set = True
            loop.call_later(_TICK, self._tick)

    def end(self) -> None:
        self._running -= 1

    def _tick(self) -> None:
        # One more tick after the last call, so that short calls in a row need no new timer each.
        self._is_set = self._running > 0
        if self._is_set:
            asyncio.get_running_loop().call_later(_TICK, self._tick)


_tickers: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Ticker]" = WeakKeyDictionary()


def _ticker_of(loop: asyncio.AbstractEventLoop) -> _Ticker:
    ticker = _tickers.get(loop)
    if ticker is None:
        ticker = _tickers[loop] = _Ticker()
    return ticker


class _Workers:
    """Threads that are made when they are needed and stay. They end with the program."""

    def __init__(self) -> None:
        self._jobs: "SimpleQueue[Job]" = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0
        #: Jobs for which there was no thread left.
        self._backlog = 0

    def submit(self, job: Job) -> None:
        is_new = False
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._threads < _MOST:
                self._threads += 1
                is_new = True
            else:
                self._backlog += 1
        self._jobs.put(job)
        if is_new:
            threading.Thread(target=self._run, name="notebridge", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                if self._backlog > 0:
                    self._backlog -= 1
                else:
                    self._free += 1


_workers = _Workers()


def _after_fork() -> None:
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

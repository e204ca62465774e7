"""One call as a conversation with the hub: its requests, its retries, and what the answers mean.

It does no input or output itself. A transport (`_http.py`, `_fetch.py`) carries out each step and sends back what came of it.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from typing import Any, Dict, Generator, Mapping, NamedTuple, NoReturn, Optional, Set, Tuple, Union, cast

from . import _errors, _settings
from ._cell import current_cell
from ._json import encode, parse
from ._settings import Origin, Route
from ._values import ToolResult, from_answer

#: How long, and how often, to wait where the hub says that there were too many calls. Seconds.
_LONGEST_WAIT = 2.0
_MOST_WAITS = 3
#: How long a hub that was there may take to come back, and the pauses between two tries. Seconds.
_LONGEST_AWAY = 30.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 1.0

#: Hubs that have answered: one that has not may never have been there, and nobody waits for it.
_answered: Set[Origin] = set()

_paths: Dict[Tuple[str, str], str] = {}
_key_numbers = itertools.count(1)
_key_prefix = os.urandom(12).hex()


class Call(NamedTuple):
    """What is called, and how."""

    server: str
    tool: str
    body: bytes
    #: The hub answers a repetition under the same key with its first answer, so that a repetition cannot run the tool twice.
    key: str
    #: Progress and log lines are wanted.
    streams: bool
    #: Seconds on `time.monotonic`; None: the route's timeout applies.
    deadline: Optional[float]
    #: See `_cell.py`.
    cell: Optional[str] = None


class Ask(NamedTuple):
    """A step: send this, and return with the reply, or raise `Unreachable` or `Broken`."""

    route: Route
    target: str
    call: Call
    deadline: float


class Wait(NamedTuple):
    """A step: do nothing for so many seconds."""

    seconds: float


class Reply(NamedTuple):
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    body: bytes


class Unreachable(Exception):
    """The hub was not reached: nothing was sent, or nothing was processed. `is_certain`: that is known, and not only likely."""

    def __init__(self, reason: str, *, is_certain: bool = True) -> None:
        super().__init__(reason)
        self.is_certain = is_certain


class Broken(Exception):
    """The connection ended, or fell silent, after something was sent. `is_timeout`: it fell silent."""

    def __init__(self, reason: str, *, is_timeout: bool = False) -> None:
        super().__init__(reason)
        self.is_timeout = is_timeout


class Stranger(Exception):
    """What listens at the address did not prove that it is the user's own hub. It got no token."""


Step = Union[Ask, Wait]
Conversation = Generator[Step, Optional[Reply], ToolResult]


def begin(server: str, tool: str, arguments: Mapping[str, Any], *, streams: bool, timeout: Optional[float]) -> Conversation:
    """Checks and encodes the call at once; the rest happens when the conversation is led."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    body = encode(arguments, server, tool)
    deadline = None if timeout is None else time.monotonic() + timeout
    return _converse(Call(server, tool, body, f"{_key_prefix}-{next(_key_numbers)}", streams, deadline, current_cell()))


def _converse(call: Call) -> Conversation:
    route = _settings.current_route()
    deadline = call.deadline or time.monotonic() + route.timeout
    away = _Away(deadline)
    was_there = route.origin in _answered
    refused: Set[Route] = set()
    waits = 0
    has_renewed = False
    while True:
        try:
            reply = cast(Reply, (yield Ask(route, _target_of(route, call), call, deadline)))
        except (Unreachable, Stranger) as error:
            # The user's hub may have come back at another port, with another token.
            refused.add(route)
            newer = _settings.renewed_route()
            if newer not in refused:
                route = newer
                continue
            pause = away.pause() if was_there and isinstance(error, Unreachable) and error.is_certain else None
            if pause is None:
                _errors.raise_unreachable(call, route, error, is_stranger=isinstance(error, Stranger))
            yield Wait(pause)
            refused.clear()
            route = newer
            continue
        except Broken as error:
            _raise_broken(call, route, error)
        _answered.add(route.origin)
        was_there = True
        if reply.status == 200:
            return _to_result(call, route, reply)
        if reply.status == 401 and not has_renewed:
            newer, has_renewed = _settings.renewed_route(), True
            if newer.token != route.token and newer.token is not None:
                route = newer
                continue
        seconds = _wait_of(reply)
        if seconds is not None and reply.status == 503:
            # It takes no calls just now, as one that ends or starts: this one was not begun.
            seconds = away.pause(seconds)
        elif seconds is not None and (waits >= _MOST_WAITS or seconds > _LONGEST_WAIT or time.monotonic() + seconds >= deadline):
            seconds = None
        if seconds is None:
            _errors.raise_refused(call, route, reply)
        waits += 1
        yield Wait(seconds)


class _Away:
    """How long one call goes on trying to reach a hub that is away. Only what was never begun is tried again."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._until: Optional[float] = None
        self._next = _FIRST_PAUSE

    def pause(self, asked: Optional[float] = None) -> Optional[float]:
        """Seconds until the next try, at least so many as the hub has asked for; None: it was away for too long."""
        now = time.monotonic()
        if self._until is None:
            self._until = min(self._deadline, now + _LONGEST_AWAY)
        # Not all callers at the same moment.
        seconds = max(self._next * random.uniform(0.75, 1.25), asked or 0.0)
        self._next = min(_LONGEST_PAUSE, 2 * self._next)
        return seconds if now + seconds < self._until else None


def _to_result(call: Call, route: Route, reply: Reply) -> ToolResult:
    answer = parse(reply.body)
    if not isinstance(answer, dict) or "success" not in answer:
        _errors.raise_strange(call, route, reply)
    if answer["success"] is True:
        return from_answer(answer)
    _errors.raise_failed(call, answer)


def _raise_broken(call: Call, route: Route, error: Broken) -> NoReturn:
    if error.is_timeout:
        _errors.raise_timeout(call, route)
    _errors.raise_broken(call, route, error)


def _target_of(route: Route, call: Call) -> str:
    names = (call.server, call.tool)
    path = _paths.get(names)
    if path is None:
        from urllib.parse import quote

        if len(_paths) > 10_000:
            _paths.clear()
        # Without a server: what the hub itself answers.
        parts = (call.tool,) if call.server == "" else (call.server, "tools", call.tool)
        path = _paths[names] = "".join(f"/{quote(part, '', errors='replace')}" for part in parts)
    return route.path + path


def _wait_of(reply: Reply) -> Optional[float]:
    """How long the hub asks to wait, if the call has not run."""
    if reply.status not in (429, 503):
        return None
    try:
        seconds = float(reply.headers.get("retry-after") or "")
    except ValueError:
        return None
    return max(0.05, seconds) if 0 <= seconds <= _LONGEST_AWAY else None


def _after_fork() -> None:
    global _key_prefix
    _key_prefix = os.urandom(12).hex()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""The transport on CPython: connections that are kept and shared, each used by one call at a time."""

from __future__ import annotations

import atexit
import os
import socket
import time
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Deque, Dict, Optional

from ._connection import Connection, Emit, NotProcessed, Unheard, hang_up, is_loopback, take_socket
from ._conversation import Ask, Broken, Conversation, Reply, Stranger, Unreachable
from ._settings import Origin, Route
from ._values import ToolResult

#: Connect timeout. Seconds.
_CONNECT_TIMEOUT = 10.0
_MOST_IDLE = 32

_idle: Dict[Origin, Deque["Connection"]] = {}
_tls_context: Any = None


class Control:
    """Cancels a call from another thread, by ending its connection."""

    __slots__ = ("cancelled", "sock")

    def __init__(self) -> None:
        self.cancelled = False
        self.sock: Optional[socket.socket] = None

    def use(self, sock: Optional[socket.socket]) -> None:
        self.sock = sock
        if self.cancelled:
            raise Broken("the call was cancelled")

    def cancel(self) -> None:
        self.cancelled = True
        sock = self.sock
        if sock is not None:
            hang_up(sock)


def lead(conversation: Conversation, control: Control, emit: Optional[Emit] = None) -> ToolResult:
    """Carries out the steps of a conversation in this thread. `emit` is given each line of progress."""
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Ask):
                try:
                    reply: Optional[Reply] = _ask(step, control, emit)
                except (Unreachable, Broken, Stranger) as error:
                    step = conversation.throw(error)
                    continue
            else:
                _wait(step.seconds, control)
                if control.cancelled:
                    raise Broken("the call was cancelled")
                reply = None
            step = conversation.send(reply)
    except StopIteration as end:
        result: ToolResult = end.value
        return result
    except Unheard as error:
        raise error.__cause__ or error from None


def _ask(ask: Ask, control: Control, emit: Optional[Emit]) -> Reply:
    route = ask.route
    while True:
        connection = _take(route.origin)
        is_kept = connection is not None
        try:
            if connection is None:
                connection = _open(route, ask.deadline)
            control.use(connection.sock)
            if route.needs_proof and connection.proved_to != route.token:
                _prove(connection, route, ask.deadline)
            reply = connection.post(ask, emit)
        except NotProcessed as error:
            if connection is not None:
                connection.close()
            if not is_kept:
                raise Unreachable(str(error)) from error
            # It was closed while idle, so the hub read nothing of the call; another kept connection may be as old.
            continue
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        control.sock = None
        if connection.is_open:
            _keep(route.origin, connection)
        return reply


def _prove(connection: Connection, route: Route, deadline: float) -> None:
    from ._own_hub import is_proof, new_challenge

    challenge, token = new_challenge(), route.token or ""
    try:
        # A busy machine takes seconds for anything.
        reply = connection.get(f"/healthz?challenge={challenge}", route, min(deadline, time.monotonic() + 10))
    except Broken as error:
        raise Stranger(str(error)) from error
    if not is_proof(reply.body, token=token, port=route.origin.port, challenge=challenge):
        raise Stranger(f"it answered with status {reply.status}")
    connection.proved_to = token
    if not connection.is_open:
        raise Stranger("it keeps no connections")


def _open(route: Route, deadline: float) -> Connection:
    origin = route.origin
    timeout = max(0.001, min(_CONNECT_TIMEOUT, deadline - time.monotonic()))
    try:
        if is_loopback(origin.host):
            return Connection(_connect(origin, timeout))
        from ._proxies import connect_by_proxy

        found = connect_by_proxy(origin, timeout, _tls_context_of)
        return Connection(*found) if found is not None else Connection(_connect(origin, timeout))
    except socket.timeout:
        raise Unreachable(f"no connection within {timeout:.3g} s") from None
    except (OSError, HTTPException) as error:
        raise Unreachable(getattr(error, "strerror", None) or str(error)) from error


def _connect(origin: Origin, timeout: float) -> socket.socket:
    if origin.scheme == "https":
        return take_socket(HTTPSConnection(origin.host, origin.port, timeout=timeout, context=_tls_context_of()))
    return take_socket(HTTPConnection(origin.host, origin.port, timeout=timeout))


def _tls_context_of() -> Any:
    """Checks certificates as the system does. Made once: it takes long."""
    global _tls_context
    if _tls_context is None:
        import ssl

        _tls_context = ssl.create_default_context()
    return _tls_context


def _take(origin: Origin) -> Optional[Connection]:
    kept = _idle.get(origin)
    while kept:
        try:
            connection = kept.pop()
        except IndexError:
            break
        if connection.is_usable():
            return connection
        connection.close()
    return None


def _keep(origin: Origin, connection: Connection) -> None:
    kept = _idle.get(origin)
    if kept is None:
        kept = _idle.setdefault(origin, deque())
    if len(kept) >= _MOST_IDLE:
        connection.close()
    else:
        kept.append(connection)


def _wait(seconds: float, control: Control) -> None:
    end = time.monotonic() + seconds
    while not control.cancelled and time.monotonic() < end:
        time.sleep(min(0.05, seconds))


def close_idle() -> None:
    """Closes idle connections."""
    for kept in list(_idle.values()):
        while kept:
            try:
                kept.pop().close()
            except IndexError:
                break


def _after_fork() -> None:
    """The parent goes on using its connections: the child only drops its references."""
    connections = [connection for kept in _idle.values() for connection in kept]
    _idle.clear()
    for connection in connections:
        connection.sock.close()


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""One connection to the hub: a request goes out, a reply comes back."""

from __future__ import annotations

import select
import socket
import sys
import time
from http.client import HTTPConnection
from typing import Callable, List, Optional

from ._conversation import Ask, Broken, Reply
from ._response import BadAnswer, NoAnswer, Response
from ._settings import Origin, Route

#: After this idle time it is not reused, in seconds. The hub keeps idle connections for five minutes; proxies and routers on
#: the way to another machine may drop them sooner.
_LONGEST_IDLE = {True: 240.0, False: 50.0}
_FIRST_PIECE = 1 << 16
_PIECE = 1 << 20
_NDJSON = "application/x-ndjson"
_RESETS = (ConnectionResetError, BrokenPipeError, ConnectionAbortedError)

#: Called with each line of a stream.
Emit = Callable[[bytes], None]


class Connection:
    """One connection to the hub, used by one call at a time."""

    __slots__ = ("sock", "is_open", "proved_to", "used_at", "prefix", "_lines", "_is_local", "_route", "_head")

    def __init__(self, sock: socket.socket, prefix: str = "", lines: str = "") -> None:
        self.sock = sock
        self.is_open = True
        self.proved_to: Optional[str] = None
        self.used_at = 0.0
        #: The prefix of the path where a proxy forwards plain HTTP, and its header lines.
        self.prefix = prefix
        self._lines = lines
        self._is_local = is_loopback(_peer_of(sock))
        self._route: Optional[Route] = None
        self._head = ""

    def close(self) -> None:
        self.is_open = False
        hang_up(self.sock)
        self.sock.close()

    def is_usable(self) -> bool:
        """False if it was closed from the other side, or is old."""
        if time.monotonic() - self.used_at > _LONGEST_IDLE[self._is_local]:
            return False
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self.sock, select.POLLIN)
            return not poll.poll(0)
        return not select.select([self.sock], [], [], 0)[0]

    def post(self, ask: Ask, emit: Optional[Emit]) -> Reply:
        call = ask.call
        if ask.route is not self._route:
            self._route, self._head = ask.route, _head_of(ask.route) + self._lines
        accept = "Accept: application/x-ndjson\r\n" if call.streams else ""
        cell = "" if call.cell is None else f"Notebridge-Cell: {call.cell}\r\n"
        lines = f"{self._head}{accept}{cell}Idempotency-Key: {call.key}\r\nContent-Length: {len(call.body)}\r\n\r\n"
        head = f"POST {self.prefix}{ask.target} HTTP/1.1\r\n{lines}"
        return self._exchange(head.encode("latin-1") + call.body, ask.deadline, emit)

    def get(self, target: str, route: Route, deadline: float) -> Reply:
        """Sends a request without the token."""
        head = f"GET {self.prefix}{target} HTTP/1.1\r\nHost: {_host_of(route.origin)}\r\n\r\n"
        return self._exchange(head.encode("latin-1"), deadline, None)

    def _exchange(self, data: bytes, deadline: float, emit: Optional[Emit]) -> Reply:
        sock = self.sock
        has_begun = False

        def receive() -> bytes:
            nonlocal has_begun
            if has_begun:
                _limit(sock, deadline)
            received = sock.recv(_PIECE if has_begun else _FIRST_PIECE)
            has_begun = True
            return received

        try:
            _limit(sock, deadline)
            sock.sendall(data)
            response = Response(receive)
            is_stream = emit is not None and response.status == 200 and response.headers.get("content-type", "").startswith(_NDJSON)
            body = _read_lines(response, emit) if emit is not None and is_stream else response.read()
        except socket.timeout:
            raise Broken("no answer in time", is_timeout=True) from None
        except NoAnswer as error:
            raise _classify(sock, error, is_reset=_pending_error(sock) != 0) from error
        except (OSError, BadAnswer) as error:
            raise _classify(sock, error, is_reset=not has_begun and isinstance(error, _RESETS)) from error
        self.is_open = response.is_reusable
        if not self.is_open:
            self.close()
        self.used_at = time.monotonic()
        return Reply(response.status, response.headers, body)


class NotProcessed(Exception):
    """The other side refused the bytes: it cannot have read the whole request."""


class Unheard(Exception):
    """The listener of events raised; its cause is that error."""


def hang_up(sock: socket.socket) -> None:
    try:
        # Not the method of TLS sockets: it would change them under the thread that reads.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass


def take_socket(connection: HTTPConnection) -> socket.socket:
    """Connects, and takes the socket out."""
    try:
        connection.connect()
        sock: socket.socket = connection.sock
        connection.sock = None
        return sock
    finally:
        connection.close()


def is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.") or host == "::1"


def _host_of(origin: Origin) -> str:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    return host if origin.port == (443 if origin.scheme == "https" else 80) else f"{host}:{origin.port}"


def _classify(sock: socket.socket, error: Exception, *, is_reset: bool) -> Exception:
    """On loopback a reset means that some of our bytes were not read: a hub that ends during a call closes without one."""
    if is_reset and sys.platform != "win32" and is_loopback(_peer_of(sock)):
        return NotProcessed("the connection was reset")
    if isinstance(error, NoAnswer):
        return Broken("it was closed without an answer")
    return Broken(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def _peer_of(sock: socket.socket) -> str:
    try:
        return str(sock.getsockname()[0])
    except OSError:
        return ""


def _pending_error(sock: socket.socket) -> int:
    try:
        return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    except OSError:
        return 0


def _read_lines(response: Response, emit: Emit) -> bytes:
    """Notifies of each event, and returns the last line: the answer."""
    begun: List[bytes] = []
    answer: Optional[bytes] = None
    for piece in response.pieces():
        *ends, rest = piece.split(b"\n")
        for end in ends:
            line = b"".join((*begun, end))
            begun.clear()
            if line.startswith(b'{"event":"result"'):
                answer = line
            elif line:
                _tell(emit, line)
        if rest:
            begun.append(rest)
    if answer is None:
        raise BadAnswer("the answer was cut off")
    return answer


def _tell(emit: Emit, line: bytes) -> None:
    try:
        emit(line)
    except Exception as error:
        raise Unheard from error


def _limit(sock: socket.socket, deadline: float) -> None:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise socket.timeout
    sock.settimeout(seconds)


def _head_of(route: Route) -> str:
    authorization = "" if route.token is None else f"Authorization: Bearer {route.token}\r\n"
    return f"Host: {_host_of(route.origin)}\r\n{authorization}Content-Type: application/json\r\nAccept-Encoding: identity\r\n"

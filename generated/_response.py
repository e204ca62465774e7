"""Reads an HTTP/1.1 response. The parser of http.client would cost as much as all the rest of a call."""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterator, List, Optional

_LONGEST_HEAD = 262_144
_status_line = re.compile(rb"HTTP/1\.([0-9]) ([1-9][0-9][0-9])(?: |$)")
_hexadecimal = re.compile(rb"[0-9A-Fa-f]{1,15}$")
_NO_BODY = (204, 304)


class NoAnswer(Exception):
    """The connection ended before the first byte."""


class BadAnswer(Exception):
    """The response is not HTTP, or ended too early."""


class Response:
    """Its head is read when it is made; its body once, as pieces or whole. `receive` gives what comes next, nothing at the end."""

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        data = receive()
        if not data:
            raise NoAnswer
        while True:
            data = self._read_head(data)
            if self.status >= 200:
                break
        self._rest = data
        self._is_chunked = (self.headers.get("transfer-encoding") or "").lower() == "chunked"
        self._length = None if self._is_chunked else self._length_of()
        #: Whether it was read whole, and the connection may be used again.
        self.is_reusable = False

    def read(self) -> bytes:
        """The whole body."""
        # Nearly always all of it came with the head.
        if self._length is not None and len(self._rest) == self._length:
            self.is_reusable = self._may_stay
            return self._rest
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        if self._is_chunked:
            yield from self._chunks()
        elif self._length is None:
            piece = self._rest
            while piece:
                yield piece
                piece = self._receive()
        else:
            yield from self._counted(self._length)

    def _counted(self, length: int) -> Iterator[bytes]:
        piece, count = self._rest, 0
        while True:
            count += len(piece)
            if count > length:
                raise BadAnswer("the answer is longer than it says")
            if piece:
                yield piece
            if count == length:
                break
            piece = self._more()
        self.is_reusable = self._may_stay

    def _chunks(self) -> Iterator[bytes]:
        data = self._rest
        while True:
            size_text, data = self._line(data)
            size_text = size_text.split(b";", 1)[0].strip()
            if not _hexadecimal.match(size_text):
                raise BadAnswer("the answer is malformed")
            left = int(size_text, 16)
            if left == 0:
                break
            while left > 0:
                if not data:
                    data = self._more()
                piece, data = data[:left], data[left:]
                left -= len(piece)
                yield piece
            end, data = self._line(data)
            if end:
                raise BadAnswer("the answer is malformed")
        trailer: bytes = b"-"
        while trailer:
            trailer, data = self._line(data)
        self.is_reusable = self._may_stay and not data

    def _line(self, data: bytes) -> "tuple[bytes, bytes]":
        while b"\n" not in data:
            if len(data) > _LONGEST_HEAD:
                raise BadAnswer("the answer is malformed")
            data += self._more()
        line, rest = data.split(b"\n", 1)
        return line.rstrip(b"\r"), rest

    def _more(self) -> bytes:
        data = self._receive()
        if not data:
            raise BadAnswer("the answer was cut off")
        return data

    def _read_head(self, data: bytes) -> bytes:
        end = data.find(b"\r\n\r\n")
        while end < 0:
            if len(data) > _LONGEST_HEAD or not b"HTTP/1."[: len(data)] == data[:7]:
                raise BadAnswer("what listens there does not speak HTTP")
            data += self._more()
            end = data.find(b"\r\n\r\n")
        lines: List[bytes] = data[:end].split(b"\r\n")
        status = _status_line.match(lines[0])
        if status is None:
            raise BadAnswer("what listens there does not speak HTTP")
        headers: Dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise BadAnswer("the answer is malformed")
            headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
        self.status = int(status[2])
        self.headers = headers
        connection = headers.get("connection", "").lower()
        self._may_stay = connection != "close" if status[1] != b"0" else connection == "keep-alive"
        return data[end + 4 :]

    def _length_of(self) -> Optional[int]:
        if self.status in _NO_BODY:
            return 0
        text = self.headers.get("content-length")
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise BadAnswer("the answer is malformed")
        return int(text)

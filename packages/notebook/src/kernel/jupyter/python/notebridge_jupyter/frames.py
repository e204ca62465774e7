"""Frames over stdin and stdout: two lengths, a header as JSON, then bytes as they are. The header's `sizes` divide them."""

import json
import os
import struct
import threading

_LENGTHS = struct.Struct(">II")
_PIECE = 1 << 20


class FrameReader:
    """Frames from a file descriptor, as far as they have come."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._bytes = bytearray()

    def read(self):
        """The headers of the frames that are there after one read; None at the end of the file."""
        piece = os.read(self._descriptor, _PIECE)
        if not piece:
            return None
        self._bytes += piece
        frames = []
        while len(self._bytes) >= _LENGTHS.size:
            header_length, body_length = _LENGTHS.unpack_from(self._bytes)
            end = _LENGTHS.size + header_length + body_length
            if len(self._bytes) < end:
                break
            header = json.loads(bytes(self._bytes[_LENGTHS.size : _LENGTHS.size + header_length]))
            body = bytes(self._bytes[_LENGTHS.size + header_length : end])
            header["parts"] = list(_divide(body, header.get("sizes", ())))
            frames.append(header)
            del self._bytes[:end]
        return frames


class FrameWriter:
    """Frames to a file descriptor, from any thread. Blocks while the host does not read."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def write(self, header, parts=()):
        header["sizes"] = [len(part) for part in parts]
        head = json.dumps(header).encode("ascii")
        begin = _LENGTHS.pack(len(head), sum(header["sizes"])) + head
        with self._lock:
            if sum(header["sizes"]) < _PIECE:
                self._write_all(b"".join((begin, *parts)))
            else:
                for part in (begin, *parts):
                    self._write_all(part)

    def _write_all(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def _divide(body, sizes):
    begin = 0
    for size in sizes:
        yield body[begin : begin + size]
        begin += size

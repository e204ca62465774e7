"""A listener on a real port that answers with the bytes that a test gives it."""

from __future__ import annotations

import socket
import threading
from typing import Callable, List, Optional

#: Is given the whole request and its number, from 0; answers bytes, or None to close. After b"" the connection stays silent.
Answer = Callable[[bytes, int], Optional[bytes]]


def ok(body: bytes, more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


def success(result: str = '"fine"') -> bytes:
    return ok(f'{{"success":true,"result":{result},"error":null,"is_error":false}}'.encode())


class RawServer:
    def __init__(self, answer: Answer, *, closes: bool = False) -> None:
        self._answer = answer
        self._closes = closes
        self.requests: List[bytes] = []
        #: Set when a caller has hung up.
        self.left = threading.Event()
        #: One permit for each connection that this side has closed.
        self.closed = threading.Semaphore(0)
        self._open: List[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for sock in self._open:
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            while True:
                request = self._read(sock)
                if request is None:
                    break
                self.requests.append(request)
                answer = self._answer(request, len(self.requests) - 1)
                if answer is None:
                    break
                sock.sendall(answer)
                if self._closes:
                    break
        except OSError:
            pass
        finally:
            sock.close()
            self.closed.release()

    def _read(self, sock: socket.socket) -> Optional[bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = sock.recv(65_536)
            if not piece:
                self.left.set()
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            body += sock.recv(65_536)
        return head + b"\r\n\r\n" + body

"""A hub that takes no calls for a moment, or is away."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from generated import _calls, _workers, client
from raw_server import RawServer, success
from test_bad_hubs import answered, call, fails, until


def test_a_hub_that_takes_no_calls_just_now_is_asked_again_under_the_same_key() -> None:
    busy = answered("503 Ending", b'{"detail":"This hub is ending."}', more="Retry-After: 0\r\n")
    with RawServer(lambda _, number: busy if number < 5 else success()) as server:
        client.configure(url=server.url, token="t")
        assert call() == "fine"
        keys = [line for request in server.requests for line in request.split(b"\r\n") if line.startswith(b"Idempotency-Key")]
        assert len(set(keys)) == 1 and len(keys) == 6
    with RawServer(lambda *_: busy) as server:
        client.configure(url=server.url, timeout=0.5)
        assert fails().code == "refused"
        assert len(server.requests) > 1


def test_a_call_that_waits_for_its_hub_can_be_cancelled() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.recv(65_536)
                sock.sendall(success())

        thread = threading.Thread(target=answer)
        thread.start()
        client.configure(url=f"http://127.0.0.1:{listener.getsockname()[1]}", token="t")
        assert call() == "fine"
        thread.join(10)

    async def give_up() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_calls.call("calls", "echo", {}), 0.3)

    asyncio.run(give_up())
    # Its thread is free again: all of them would wait for a hub that is away else.
    until(lambda: _workers._workers._free == _workers._workers._threads)

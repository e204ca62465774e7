"""A hub that is away, slow, restarts, or is something else."""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
import threading
from typing import Any, Callable, List, Optional

import pytest
from generated import _calls, _http, client
from raw_server import RawServer, ok, success
from served_hub import ServedHub, fixture_server

HTML = b"<html><body>Sign in to the hotel's network</body></html>"


def call(**options: Any) -> Any:
    return _calls.call_sync("calls", "echo", {"a": 1}, **options).value


def fails(**options: Any) -> client.ToolError:
    """The same error in both ways."""
    with pytest.raises(client.ToolError) as raised:
        call(**options)
    with pytest.raises(client.ToolError) as awaited:
        asyncio.run(_calls.call("calls", "echo", {"a": 1}, **options))
    assert awaited.value.code == raised.value.code
    return raised.value


def answered(status: str, body: bytes = b"", kind: str = "application/json", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        (answered("200 OK", HTML, "text/html"), "bad_answer", 'text/html: "<html><body>Sign in'),
        (answered("502 Bad Gateway", HTML, "text/html"), "bad_answer", "status 502"),
        (answered("500 Internal Server Error", b'{"detail":"Internal error","call_id":"c1"}'), "refused", "Internal error"),
        (answered("404 Not Found", b"Not Found", "text/plain"), "bad_answer", "is not a tool proxy"),
        (answered("200 OK", b'{"success":tr'), "bad_answer", "is not a tool proxy"),
        (answered("200 OK", b"[]"), "bad_answer", "is not a tool proxy"),
        (answered("200 OK", b"[" * 100_000), "bad_answer", "is not a tool proxy"),
        (answered("204 No Content"), "bad_answer", "and nothing"),
        (answered("200 OK"), "bad_answer", "and nothing"),
        (answered("302 Found", more="Location: http://127.0.0.1:1/\r\n"), "bad_answer", "redirect"),
        (answered("403 Forbidden", b'{"detail":"Rule x forbids it.","error_code":"denied"}'), "denied", "Rule x forbids it."),
        (answered("422 Unprocessable", b'{"detail":[{"msg":"Field required"}]}'), "invalid_arguments", "Field required"),
        (answered("413 Too Large", b'{"detail":"Too much."}'), "message_too_large", "Too much."),
    ],
)  # fmt: skip
def test_an_answer_that_is_none(answer: bytes, code: str, text: str) -> None:
    with RawServer(lambda *_: answer) as server:
        client.configure(url=server.url, token="t")
        error = fails()
        assert (error.code, text in str(error)) == (code, True), str(error)
        assert (error.server, error.tool) == ("calls", "echo")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "cut off"),
        (b"HTTP/1.1 200 OK\r\nContent-Len", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcdefg\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}", "longer than it says"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n{}", "malformed"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "malformed"),
        (b"HTTP/1.1 abc\r\n\r\n", "does not speak HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, "does not speak HTTP"),
        (None, "closed without an answer"),
    ],
)
def test_an_answer_that_is_damaged_is_not_asked_for_again(answer: Optional[bytes], text: str) -> None:
    with RawServer(lambda *_: answer, closes=True) as server:
        client.configure(url=server.url, token="t")
        error = fails()
        assert (error.code, text in str(error)) == ("connection_lost", True), str(error)
        assert "unknown" in str(error) and len(server.requests) == 2
        assert not any(kept for origin, kept in _http._idle.items() if origin.port == server.port)


@pytest.mark.parametrize(
    "answer",
    [
        success().replace(b"HTTP/1.1", b"HTTP/1.0"),
        success().replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1),
        success().replace(b"Content-Length", b"X-Length"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + success(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
        + b"".join(b"%X;x=y\r\n%s\r\n" % (len(part), part) for part in (b'{"success":tr', b'ue,"result":"fine"}'))
        + b"0\r\nX-Trailer: 1\r\n\r\n",
    ],
)
def test_the_other_ways_to_say_it_in_http_are_understood(answer: bytes) -> None:
    with RawServer(lambda *_: answer, closes=True) as server:
        client.configure(url=server.url, token="t")
        for _ in range(3):
            assert call() == "fine"
            # Not all of them say that they close. What is sent before that is seen has an outcome that nobody knows.
            assert server.closed.acquire(timeout=60)
        assert len(server.requests) == 3


def test_a_hub_that_is_away_is_named_with_where_its_address_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setenv("NOTEBRIDGE_URL", url)
    error = fails()
    assert error.code == "hub_unreachable"
    assert url in str(error) and "NOTEBRIDGE_URL" in str(error) and "notebridge serve" in str(error)
    client.configure(url="http://no-such-host.invalid:8765", token="t")
    assert fails().code == "hub_unreachable"


def test_a_hub_that_is_slow_runs_into_the_timeout_and_hears_of_it() -> None:
    with RawServer(lambda *_: b"") as server:
        client.configure(url=server.url, token="t", timeout=0.3)
        error = fails()
        assert error.code == "timeout" and "timeout=SECONDS" in str(error)
        assert server.left.wait(60)


def test_an_answer_that_trickles_runs_into_the_timeout_too() -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not stop.wait(0.01):
                    try:
                        sock.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        client.configure(url=f"http://127.0.0.1:{listener.getsockname()[1]}", token="t")
        with pytest.raises(client.ToolError) as raised:
            call(timeout=0.4)
        assert raised.value.code == "timeout"
        stop.set()
        thread.join(10)


def test_a_short_wait_is_kept_and_a_long_one_is_an_error() -> None:
    body = b'{"detail":"Too many calls.","error_code":"budget_exhausted"}'
    with RawServer(lambda _, number: answered("429 Too Many", body, more="Retry-After: 0\r\n") if number < 2 else success()) as server:
        client.configure(url=server.url, token="t")
        assert call() == "fine"
        assert asyncio.run(_calls.call("calls", "echo", {})).value == "fine"
        keys = [line for request in server.requests[:3] for line in request.split(b"\r\n") if line.startswith(b"Idempotency-Key")]
        assert len(set(keys)) == 1 and len(keys) == 3
    for status, more in (("429 Too Many", "Retry-After: 60\r\n"), ("429 Too Many", ""), ("503 Busy", "Retry-After: soon\r\n")):
        with RawServer(lambda *_: answered(status, body, more=more)) as server:
            client.configure(url=server.url)
            error = fails()
            assert error.code == "budget_exhausted" and len(server.requests) == 2
            assert ("Try again in 60 s." in str(error)) is ("60" in more)
    with RawServer(lambda *_: answered("429 Too Many", body, more="Retry-After: 0\r\n")) as server:
        client.configure(url=server.url)
        assert fails().code == "budget_exhausted"
        assert len(server.requests) == 8


def test_a_connection_that_was_closed_while_idle_is_made_anew() -> None:
    with RawServer(lambda *_: success(), closes=True) as server:
        client.configure(url=server.url, token="t")
        for _ in range(5):
            assert call() == "fine"
            assert server.closed.acquire(timeout=60)
        assert len(server.requests) == 5


def test_a_reset_of_a_kept_connection_is_tried_again_with_the_same_key() -> None:
    seen: List[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            first, _ = listener.accept()
            seen.append(first.recv(65_536))
            first.sendall(success())
            # Only the first byte is taken: what is left unread when it closes makes the system answer with a reset.
            seen.append(first.recv(1))
            first.close()
            second, _ = listener.accept()
            seen.append(second.recv(65_536))
            second.sendall(success('"again"'))
            second.close()

        thread = threading.Thread(target=serve)
        thread.start()
        client.configure(url=f"http://127.0.0.1:{listener.getsockname()[1]}", token="t")
        assert [call(), call()] == ["fine", "again"]
        thread.join(10)
    assert seen[1] == b"P" and seen[2].startswith(b"POST ")


def test_an_end_in_the_middle_of_a_call_is_never_tried_again() -> None:
    with RawServer(lambda _, number: success() if number == 0 else None) as server:
        client.configure(url=server.url, token="t")
        assert call() == "fine"
        with pytest.raises(client.ToolError) as raised:
            call()
        assert raised.value.code == "connection_lost" and len(server.requests) == 2


def test_a_hub_that_is_killed_in_the_middle_of_a_call_and_comes_back(tmp_path: Any) -> None:
    servers = {"calls": fixture_server("calls.mjs", "${HOME}/count")}
    first = ServedHub(servers, home=str(tmp_path))
    client.configure(url=first.url, token=first.owner_token)
    assert call() == {"a": 1}
    failures: List[BaseException] = []

    def wait() -> None:
        try:
            _calls.call_sync("calls", "wait", {"key": "k"})
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: "wait k" in first.counted)
    first.stop(signal.SIGKILL)
    thread.join(20)
    [failure] = failures
    assert isinstance(failure, client.ToolError) and failure.code == "connection_lost"
    client.configure(timeout=0.3)
    assert fails().code == "hub_unreachable"
    client.configure(timeout=None)
    # It was there, so the call waits for it: nothing of it was sent.
    results: List[Any] = []
    waiting = threading.Thread(target=lambda: results.append(call()))
    waiting.start()
    second = ServedHub(servers, home=str(tmp_path), port=first.port)
    try:
        waiting.join(60)
        assert results == [{"a": 1}]
        assert second.counted.count("wait k") == 1
    finally:
        second.close()


def test_ones_own_hub_is_found_again_at_another_port(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    servers = {"calls": fixture_server("calls.mjs", "${HOME}/count")}
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ServedHub(servers, home=str(tmp_path)):
        assert call() == {"a": 1}
    with ServedHub(servers, home=str(tmp_path)):
        assert call() == {"a": 1}
        assert asyncio.run(_calls.call("calls", "echo", {"b": 1})).value == {"b": 1}


def test_refusals_of_a_real_hub_name_the_rule(hub: ServedHub) -> None:
    client.configure(url=hub.url, token=hub.grant("--allow", "calls:count")["token"])
    error = fails()
    assert error.code == "denied" and "calls:count" in str(error)
    client.configure(token="nbg_" + "x" * 43)
    error = fails()
    assert error.code == "bad_grant" and "configure(token=)" in str(error)
    client.configure(token=None)
    error = fails()
    assert error.code == "bad_grant" and "No token was sent" in str(error)


def test_names_that_are_not_there_come_with_what_could_be_meant(owner: ServedHub, manifest: Any) -> None:
    manifest({"servers": [{"name": "calls", "tools": [{"name": "echo"}, {"name": "gone"}]}]})
    client.configure(url=owner.url, token=owner.owner_token)
    for server, tool, code, text in (
        ("calls", "ecko", "tool_not_found", "Did you mean 'echo'?"),
        ("calls", "gone", "tool_not_found", "`notebridge generate`"),
        ("cals", "echo", "unknown_server", "Did you mean 'calls'?"),
    ):
        with pytest.raises(client.ToolError) as raised:
            _calls.call_sync(server, tool, {})
        assert (raised.value.code, text in str(raised.value)) == (code, True), str(raised.value)


def test_a_server_that_dies_in_a_call_is_told_apart(owner: ServedHub) -> None:
    with pytest.raises(client.ToolError) as raised:
        _calls.call_sync("calls", "crash", {})
    assert raised.value.code == "upstream_unavailable" and raised.value.call_id
    until(lambda: call() == {"a": 1})


def until(condition: Callable[[], bool]) -> None:
    import time

    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_listener_that_resets_every_connection_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def reset() -> None:
            for _ in range(2):
                sock, _ = listener.accept()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()

        thread = threading.Thread(target=reset)
        thread.start()
        client.configure(url=f"http://127.0.0.1:{listener.getsockname()[1]}", token="t")
        assert fails().code == "hub_unreachable"
        thread.join(10)


def test_ok_is_what_the_other_tests_take_it_for() -> None:
    assert ok(b"{}").endswith(b"\r\n\r\n{}")

"""Progress and log lines of a tool that runs."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, List

import pytest
from generated import _calls, client
from generated.client import Progress
from raw_server import RawServer
from served_hub import ServedHub

STEPS = [Progress(1), Progress(2), Progress(3)]


def stream(*lines: str) -> bytes:
    body = "".join(f"{line}\n" for line in lines).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:]) if part)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + chunks + b"0\r\n\r\n"


RESULT = '{"event":"result","success":true,"result":"done","error":null,"is_error":false}'


def test_it_is_told_in_order_to_functions_of_both_kinds(owner: ServedHub) -> None:
    told: List[Any] = []

    async def hear(progress: Progress) -> None:
        await asyncio.sleep(0)
        told.append(progress)

    assert asyncio.run(client.call_tool("calls__steps", on_progress=told.append)) == "done"
    assert asyncio.run(client.call_tool("calls__steps", on_progress=hear)) == "done"
    assert client.call_tool_sync("calls__steps", on_progress=told.append) == "done"
    assert client.call_tool_sync("calls__steps", on_progress=hear) == "done"

    async def cell() -> Any:
        return client.call_tool_sync("calls__steps", on_progress=hear)

    assert asyncio.run(cell()) == "done"
    assert told == STEPS * 5


def test_total_message_and_log_lines_arrive() -> None:
    lines = (
        '{"event":"heartbeat"}',
        '{"event":"progress","progress":1.5,"total":3,"message":"half"}',
        '{"event":"log","level":"warning","data":{"a":1}}',
        '{"event":"progress","progress":"much"}',
        "not json",
        RESULT,
    )
    logged: List[Any] = []

    class Listener(List[Progress]):
        def __call__(self, progress: Progress) -> None:
            self.append(progress)

        def on_log(self, level: str, data: Any) -> None:
            logged.append((level, data))

    listener = Listener()
    with RawServer(lambda *_: stream(*lines)) as server:
        client.configure(url=server.url, token="t")
        assert client.call_tool_sync("a__b", on_progress=listener) == "done"
        assert b"\r\nAccept: application/x-ndjson\r\n" in server.requests[0]
    assert listener == [Progress(1.5, 3, "half")] and logged == [("warning", {"a": 1})]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_an_error_of_the_function_is_raised_and_ends_the_call(way: str) -> None:
    def fail(progress: Progress) -> None:
        raise OSError("my disk is full")

    first = stream('{"event":"progress","progress":1}')[: -len(b"0\r\n\r\n")]
    with RawServer(lambda *_: first) as server:
        client.configure(url=server.url, token="t")
        with pytest.raises(OSError, match="my disk is full"):
            if way == "sync":
                client.call_tool_sync("a__b", on_progress=fail)
            else:
                asyncio.run(client.call_tool("a__b", on_progress=fail))
        assert server.left.wait(10)


def test_a_stream_that_ends_before_its_answer_is_an_error() -> None:
    with RawServer(lambda *_: stream('{"event":"progress","progress":1}')) as server:
        client.configure(url=server.url, token="t")
        with pytest.raises(client.ToolError, match="cut off") as raised:
            client.call_tool_sync("a__b", on_progress=lambda _: None)
        assert raised.value.code == "connection_lost"


def test_it_is_shown_as_a_line_of_text_without_tqdm(owner: ServedHub, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    client.call_tool_sync("calls__steps", on_progress=True)
    assert capsys.readouterr().err == "\rsteps 1\rsteps 2\rsteps 3\n"
    shown = client.show_progress("Copying")
    shown(Progress(1, 4, "a long message"))
    shown(Progress(2, 4))
    shown.close()
    assert capsys.readouterr().err == "\rCopying 1/4 a long message\rCopying 2/4" + " " * 15 + "\n"


def test_it_is_shown_by_tqdm_where_that_is_installed(owner: ServedHub, capsys: Any) -> None:
    pytest.importorskip("tqdm")
    shown = client.show_progress("Copying")
    shown(Progress(1, 4, "first"))
    shown.on_log("info", "a line")
    shown(Progress(4, 4))
    shown.close()
    written = capsys.readouterr().err
    assert "Copying" in written and "4/4" in written and "first" in written and "info: a line" in written
    asyncio.run(client.call_tool("calls__steps", on_progress=True))
    assert "steps" in capsys.readouterr().err


def test_what_cannot_hear_is_refused(owner: ServedHub) -> None:
    with pytest.raises(TypeError, match="takes a Progress"):
        _calls.call_sync("calls", "steps", {}, on_progress="yes")  # type: ignore[arg-type]

"""Calls over a real hub: many at once, from loops, threads and processes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List

import pytest
from generated import _calls, _http, client
from served_hub import ServedHub


def echo(value: Any) -> Any:
    return _calls.call_sync("calls", "echo", {"value": value}).value["value"]


async def aecho(value: Any) -> Any:
    return (await _calls.call("calls", "echo", {"value": value})).value["value"]


def test_a_call_waits_with_and_without_await(owner: ServedHub) -> None:
    assert echo(1) == 1
    assert asyncio.run(aecho([1, {"a": None}])) == [1, {"a": None}]


def test_sync_works_inside_a_running_loop(owner: ServedHub) -> None:
    async def cell() -> Any:
        return echo("in a loop")

    assert asyncio.run(cell()) == "in a loop"


def test_two_hundred_gathered_calls_run_at_once_and_come_back_in_order(owner: ServedHub) -> None:
    async def gather() -> List[Any]:
        return await asyncio.gather(*(aecho(number) for number in range(200)))

    assert asyncio.run(gather()) == list(range(200))
    kept = sum(len(kept) for origin, kept in _http._idle.items() if origin.port == owner.port)
    assert 1 <= kept <= 32


def test_calls_that_wait_do_not_hold_up_the_others(owner: ServedHub) -> None:
    async def both() -> Any:
        waiting = [asyncio.ensure_future(_calls.call("calls", "wait", {"key": f"held {n}"})) for n in range(31)]
        value = await aecho("past them")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return value

    assert asyncio.run(both()) == "past them"


def test_one_loop_after_another_and_several_at_once(owner: ServedHub) -> None:
    assert [asyncio.run(aecho(number)) for number in range(3)] == [0, 1, 2]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda number: asyncio.run(aecho(number)), range(20))) == list(range(20))


def test_a_loop_that_is_gone_leaves_nothing_behind(owner: ServedHub) -> None:
    import gc
    import weakref

    loop = asyncio.new_event_loop()
    loop.run_until_complete(aecho(1))
    loop.close()
    seen = weakref.ref(loop)
    del loop
    gc.collect()
    assert seen() is None


def test_threads_share_the_kept_connections(owner: ServedHub) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(echo, range(100))) == list(range(100))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_makes_connections_of_its_own(owner: ServedHub) -> None:
    assert echo("parent") == "parent"
    code = f"""
import asyncio, os, sys
sys.path.insert(0, {packages()!r})
from generated import _calls, _http, client
client.configure(url={owner.url!r}, token={owner.owner_token!r})
async def aecho(value): return (await _calls.call("calls", "echo", {{"value": value}})).value["value"]
assert asyncio.run(aecho(1)) == 1
before = [id(kept) for kept in _http._idle.values()]
pid = os.fork()
if pid == 0:
    assert not _http._idle
    assert _calls.call_sync("calls", "echo", {{"value": 2}}).value["value"] == 2
    assert asyncio.run(aecho(3)) == 3
    sys.exit(0)
assert _calls.call_sync("calls", "echo", {{"value": 4}}).value["value"] == 4
assert asyncio.run(aecho(5)) == 5
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    run(code)


@pytest.mark.parametrize("ending", ["pass", "import threading; threading.Thread(target=calls).start()", "sys.exit(0)"])
def test_the_interpreter_ends_cleanly_with_connections_and_calls_under_way(owner: ServedHub, ending: str) -> None:
    code = f"""
import asyncio, os, sys
sys.path.insert(0, {packages()!r})
from generated import _calls, client
client.configure(url={owner.url!r}, token={owner.owner_token!r})
async def calls():
    waiting = asyncio.ensure_future(_calls.call("calls", "wait", {{"key": "at the end"}}))
    await asyncio.gather(*(_calls.call("calls", "echo", {{}}) for _ in range(20)))
    return waiting
loop = asyncio.new_event_loop()
task = loop.run_until_complete(calls())
task.cancel()
loop.run_until_complete(asyncio.wait([task]))
loop.close()
{ending.replace("target=calls", "target=lambda: _calls.call_sync('calls', 'echo', {})")}
"""
    run(code)


def packages() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(client.__file__)))


def run(code: str) -> None:
    """In a process of its own, where every warning is an error."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_import_of_the_client_loads_none_of_the_heavy_modules() -> None:
    code = (
        f"import sys; sys.path.insert(0, {packages()!r}); before = set(sys.modules)\n"
        "import generated.client\n"
        "heavy = {'ssl', 'asyncio', 'http.client', 'email', 'urllib.request', 'tqdm', 'IPython', 'hashlib', 'difflib', 'inspect'}\n"
        "assert not heavy & (set(sys.modules) - before), heavy & set(sys.modules)"
    )
    run(code)


def test_arguments_are_checked_before_anything_is_sent(owner: ServedHub) -> None:
    with pytest.raises(client.ToolError, match=r"echo \(calls\).*type object is no JSON") as raised:
        _calls.call_sync("calls", "echo", {"value": object()})
    assert raised.value.code == "invalid_arguments"
    with pytest.raises(client.ToolError, match="cannot be sent as JSON"):
        _calls.call_sync("calls", "echo", {"value": float("nan")})
    circle: List[Any] = []
    circle.append(circle)
    with pytest.raises(client.ToolError, match="cannot be sent as JSON"):
        _calls.call_sync("calls", "echo", {"value": circle})
    with pytest.raises(ValueError, match="more than 0"):
        _calls.call_sync("calls", "echo", {}, timeout=0)


def test_arguments_may_be_what_notebooks_hold(owner: ServedHub) -> None:
    import datetime
    import pathlib

    assert echo((1, 2)) == [1, 2]
    assert echo(datetime.date(2026, 11, 22)) == "2026-11-22"
    assert echo(pathlib.PurePosixPath("/a/b")) == "/a/b"
    assert echo("\ud800 é 🎉 \x00") == "\ud800 é 🎉 \x00"
    assert echo({"__proto__": 1, "": [[]]}) == {"__proto__": 1, "": [[]]}


def test_a_call_by_its_full_name(owner: ServedHub, manifest: Any) -> None:
    assert asyncio.run(client.call_tool("calls__echo", {"a": 1})) == {"a": 1}
    assert asyncio.run(client.http_call_tool("calls", "echo", {"a": 1})) == {"a": 1}
    assert client.call_tool_sync("values__a__b") == "I am a__b"
    with pytest.raises(client.ToolError, match="server__tool"):
        client.call_tool_sync("calls")
    from generated._tool_names import split_name

    servers = [{"name": "my", "tools": [{"name": "other"}]}, {"name": "my__server", "tools": [{"name": "tool"}, {"name": "a__b"}]}]
    manifest({"servers": servers})
    assert split_name("my__server__tool") == ("my__server", "tool")
    assert split_name("my__server__a__b") == ("my__server", "a__b")
    assert split_name("my__other") == ("my", "other")
    assert split_name("what__ever__else") == ("what", "ever__else")


def test_names_that_need_encoding_reach_their_tool(owner: ServedHub) -> None:
    for name in ("..", ".", "a/b", "größe", "日本語", "a b", "a?b#c", "%2f", "../../etc/passwd", "x" * 500):
        assert _calls.call_sync("values", name, {}).value == f"I am {name}"


def test_a_timeout_ends_the_call_here_and_at_the_server(owner: ServedHub) -> None:
    key = f"too slow {time.monotonic()}"
    with pytest.raises(client.ToolError, match="in time") as raised:
        # Time enough to reach the server.
        _calls.call_sync("calls", "wait", {"key": key}, timeout=3)
    assert raised.value.code == "timeout"
    wait_for(owner, f"cancelled {key}")


def test_twenty_megabytes_come_whole(owner: ServedHub) -> None:
    value = asyncio.run(client.call_tool("values__big", {"characters": 10 * 1024 * 1024, "form": "text"}))
    assert value == "é" * (10 * 1024 * 1024)
    told: List[Any] = []
    value = client.call_tool_sync("values__big", {"characters": 10 * 1024 * 1024, "form": "structured"}, on_progress=told.append)
    assert value == {"value": "é" * (10 * 1024 * 1024)}


def test_a_large_request_reaches_the_tool(owner: ServedHub) -> None:
    text = "é" * 2_000_000
    assert echo(text) == text


def test_daemon_threads_of_ours_do_not_grow_without_end(owner: ServedHub) -> None:
    async def many() -> None:
        await asyncio.gather(*(aecho(number) for number in range(300)))

    asyncio.run(many())
    asyncio.run(many())
    assert sum(thread.name == "notebridge" for thread in threading.enumerate()) <= 32


def wait_for(hub: ServedHub, line: str) -> None:
    end = time.monotonic() + 60
    while line not in hub.counted:
        assert time.monotonic() < end, f"{line!r} did not come: {hub.counted[-5:]}"
        time.sleep(0.005)

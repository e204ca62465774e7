"""An interrupt, or a cancelled task, reaches the server that runs the tool."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from generated import _calls, client
from served_hub import ServedHub

def arrived(hub: ServedHub, line: str, within: float = 60) -> float:
    """Waits for a line of the server, and tells when it was seen."""
    end = time.monotonic() + within
    while line not in hub.counted:
        assert time.monotonic() < end, f"{line!r} did not come within {within} s: {hub.counted[-5:]}"
        time.sleep(0.002)
    return time.monotonic()


def packages() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(client.__file__)))


def test_a_cancelled_task_cancels_at_the_server_and_no_other(owner: ServedHub) -> None:
    async def main() -> None:
        tasks = [asyncio.ensure_future(_calls.call("calls", "wait", {"key": f"task {n}"})) for n in range(3)]
        loop = asyncio.get_running_loop()
        for number in range(3):
            await loop.run_in_executor(None, arrived, owner, f"wait task {number}")
        tasks[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]
        await loop.run_in_executor(None, arrived, owner, "cancelled task 1")
        assert not {"cancelled task 0", "cancelled task 2"} & set(owner.counted)
        assert (await _calls.call("calls", "echo", {"a": 1})).value == {"a": 1}
        tasks[0].cancel()
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    arrived(owner, "cancelled task 0")
    arrived(owner, "cancelled task 2")


def test_wait_for_of_asyncio_cancels_at_the_server(owner: ServedHub) -> None:
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(_calls.call("calls", "wait", {"key": "wait_for"}), 3))
    arrived(owner, "cancelled wait_for")


def test_a_call_that_waits_for_its_thread_is_cancelled_without_being_sent(owner: ServedHub) -> None:
    async def main() -> None:
        tasks = [asyncio.ensure_future(_calls.call("calls", "wait", {"key": f"full {n}"})) for n in range(33)]
        loop = asyncio.get_running_loop()
        for number in range(32):
            await loop.run_in_executor(None, arrived, owner, f"wait full {number}")
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    for number in range(32):
        arrived(owner, f"cancelled full {number}")
    assert "wait full 32" not in owner.counted


WAYS = {
    "sync": "_calls.call_sync('calls', 'wait', {'key': KEY})",
    "sync in a loop": "asyncio.run(cell())",
    "sync with progress": "_calls.call_sync('calls', 'wait', {'key': KEY}, on_progress=print)",
    "await": "asyncio.run(_calls.call('calls', 'wait', {'key': KEY}))",
    "await with progress": "asyncio.run(_calls.call('calls', 'wait', {'key': KEY}, on_progress=print))",
    "gather": "asyncio.run(gather())",
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_in_a_program(owner: ServedHub, way: str) -> None:
    key = f"ctrl-c {way}"
    code = f"""
import asyncio, sys
sys.path.insert(0, {packages()!r})
from generated import _calls, client
client.configure(url={owner.url!r}, token={owner.owner_token!r})
KEY = {key!r}
async def cell(): return _calls.call_sync('calls', 'wait', {{'key': KEY}})
async def gather():
    await asyncio.gather(*(_calls.call('calls', 'wait', {{'key': KEY}}) for _ in range(3)))
try:
    {WAYS[way]}
except KeyboardInterrupt:
    print(_calls.call_sync('calls', 'echo', {{'interrupted': 1}}).value)
"""
    program = subprocess.Popen([sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    arrived(owner, f"wait {key}")
    if way == "gather":
        while owner.counted.count(f"wait {key}") < 3:
            time.sleep(0.002)
    program.send_signal(signal.SIGINT)
    arrived(owner, f"cancelled {key}")
    assert program.communicate(timeout=60) == ("{'interrupted': 1}\n", "")
    assert program.returncode == 0

"""In a real ipykernel: an interrupt, and what is shown."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import pytest
from served_hub import ServedHub
from test_interrupts import arrived, packages

CELLS = {
    "await": "await _calls.call('calls', 'wait', {'key': KEY})",
    "await with progress": "await _calls.call('calls', 'wait', {'key': KEY}, on_progress=True)",
    "sync": "_calls.call_sync('calls', 'wait', {'key': KEY})",
    "sync in a cell with await": "await _calls.call('calls', 'echo', {})\n_calls.call_sync('calls', 'wait', {'key': KEY})",
    "gather": "import asyncio\nawait asyncio.gather(*(_calls.call('calls', 'wait', {'key': KEY}) for _ in range(40)))",
}


@pytest.fixture(scope="module")
def kernel(hub: ServedHub) -> Any:
    """A real ipykernel, as Jupyter starts it."""
    manager_module = pytest.importorskip("jupyter_client.manager")
    manager = manager_module.KernelManager()
    manager.kernel_spec_manager.ensure_native_kernel = True
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(env={**os.environ, "PYTHONWARNINGS": "", "JUPYTER_PLATFORM_DIRS": "1"})
    talk = manager.client()
    talk.start_channels()
    talk.wait_for_ready(timeout=60)
    setup = f"import sys; sys.path.insert(0, {packages()!r})\nfrom generated import _calls, client\n"
    reply = talk.execute_interactive(setup + f"client.configure(url={hub.url!r}, token={hub.owner_token!r})", timeout=60)
    assert reply["content"]["status"] == "ok"
    yield manager, talk
    talk.stop_channels()
    manager.shutdown_kernel(now=True)


def shown_by(kernel: Any, code: str) -> Any:
    """The data of all that a cell shows."""
    shown = []

    def hear(message: Any) -> None:
        if message["msg_type"] in ("display_data", "execute_result"):
            shown.append(message["content"]["data"])

    reply = kernel[1].execute_interactive(code, output_hook=hear, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    return shown


@pytest.mark.parametrize("cell", CELLS)
def test_interrupting_the_kernel(kernel: Any, hub: ServedHub, cell: str) -> None:
    manager, talk = kernel
    key = f"kernel {cell}"

    def interrupt() -> None:
        arrived(hub, f"wait {key}")
        manager.interrupt_kernel()

    thread = threading.Thread(target=interrupt)
    thread.start()
    reply = talk.execute_interactive(f"KEY = {key!r}\n{CELLS[cell]}", output_hook=lambda _: None, timeout=60)
    thread.join(20)
    assert reply["content"]["status"] == "error"
    assert reply["content"]["ename"] in ("KeyboardInterrupt", "CancelledError")
    arrived(hub, f"cancelled {key}")
    # The kernel goes on as before, and can be interrupted as before.
    assert shown_by(kernel, "(await _calls.call('calls', 'echo', {'a': 1})).value")[0]["text/plain"] == "{'a': 1}"


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
GIVE = f"""
import json
IMAGE = {{"type": "image", "data": {PNG!r}, "mimeType": "image/png"}}
def give(**result):
    return _calls.call_sync("values", "give", {{"result": json.dumps(result)}})
"""


def test_what_a_kernel_shows(kernel: Any) -> None:
    shown_by(kernel, GIVE)
    [image] = shown_by(kernel, "give(content=[IMAGE]).value")
    assert image["image/png"].strip() == PNG
    mixed = shown_by(kernel, "give(content=[{'type': 'text', 'text': 'see'}, IMAGE, IMAGE]).value")
    assert [each.get("image/png", each["text/plain"]).strip() for each in mixed] == ["'see'", PNG, PNG]
    result = shown_by(kernel, "give(content=[IMAGE], structuredContent={'a': 1})")
    assert [each.get("image/png", each["text/plain"]).strip() for each in result] == ["{'a': 1}", PNG]
    [audio] = shown_by(kernel, "give(content=[{'type': 'audio', 'data': 'UklGRg==', 'mimeType': 'audio/wav'}]).value")
    assert "<audio controls" in audio["text/html"]

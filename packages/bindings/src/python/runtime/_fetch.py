"""The transport in Pyodide: `fetch` of the browser, or of Node."""

from __future__ import annotations

import asyncio
import importlib
import time
from typing import Any, Awaitable, Callable, Dict, Optional

from ._conversation import Ask, Broken, Conversation, Reply, Unreachable
from ._values import ToolError, ToolResult

OnEvent = Callable[[bytes], Awaitable[None]]
# JavaScript ignores a longer one.
_longest_ms = 2**31 - 1


async def lead_by_fetch(conversation: Conversation, on_event: Optional[OnEvent] = None) -> ToolResult:
    """Runs a conversation. When the task is cancelled, the request is aborted."""
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Ask):
                try:
                    reply: Optional[Reply] = await _ask(step, on_event)
                except (Unreachable, Broken) as error:
                    step = conversation.throw(error)
                    continue
            else:
                await asyncio.sleep(step.seconds)
                reply = None
            step = conversation.send(reply)
    except StopIteration as end:
        result: ToolResult = end.value
        return result
    finally:
        conversation.close()


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """Blocks without `await`, where WebAssembly can switch stacks."""
    ffi: Any = importlib.import_module("pyodide.ffi")
    if not getattr(ffi, "can_run_sync", bool)():
        close = getattr(awaitable, "close", None)
        if close is not None:
            close()
        raise ToolError(
            "This Python runs in a page that cannot wait without await: it has no stack switching (JSPI), or the code was not started "
            "with runPythonAsync. Call the tool with await: `await tool(...)` instead of `tool.sync(...)`.",
            code="needs_await",
        )
    return ffi.run_sync(awaitable)


async def _ask(ask: Ask, on_event: Optional[OnEvent]) -> Reply:
    js: Any = importlib.import_module("js")
    ffi: Any = importlib.import_module("pyodide.ffi")
    call, route = ask.call, ask.route
    if call.tool in (".", "..") or call.server in (".", ".."):
        raise Unreachable("a browser cannot ask for a path that ends in dots", is_certain=False)
    headers = {"Content-Type": "application/json", "Idempotency-Key": call.key}
    if route.token is not None:
        headers["Authorization"] = f"Bearer {route.token}"
    if call.streams:
        headers["Accept"] = "application/x-ndjson"
    aborting = js.AbortController.new()
    options: Dict[str, Any] = {
        "method": "POST",
        "headers": headers,
        "body": call.body.decode("ascii"),
        "redirect": "manual",
        "credentials": "omit",
        "cache": "no-store",
        "signal": aborting.signal,
    }

    async def exchange() -> Reply:
        try:
            response = await js.fetch(f"{route.origin}{ask.target}", ffi.to_js(options, dict_converter=js.Object.fromEntries))
        except ffi.JsException as error:
            # Whether something was sent is not told here.
            text = f"{error}. A page may call a hub only if the hub was started with --allow-origin for it"
            raise Unreachable(text, is_certain=False) from None
        try:
            found = _headers_of(response)
            if on_event is not None and found.get("content-type", "").startswith("application/x-ndjson"):
                return Reply(response.status, found, await _read_lines(response, on_event))
            return Reply(response.status, found, (await response.arrayBuffer()).to_bytes())
        except ffi.JsException as error:
            raise Broken(str(error)) from None

    try:
        return await _in_time(exchange(), ask.deadline - time.monotonic())
    except asyncio.TimeoutError:
        raise Broken("no answer in time", is_timeout=True) from None
    finally:
        # After the end it changes nothing.
        aborting.abort()


async def _in_time(work: Awaitable[Reply], seconds: float) -> Reply:
    """As `asyncio.wait_for`, which would leave its timer behind for the whole time: Pyodide's event loop cannot cancel one."""
    js: Any = importlib.import_module("js")
    task = asyncio.ensure_future(work)
    if not hasattr(js, "setTimeout"):
        return await _looking(task, seconds)
    ffi: Any = importlib.import_module("pyodide.ffi")
    is_late = False

    def give_up() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    when_late = ffi.create_proxy(give_up)
    timer = js.setTimeout(when_late, min(max(1.0, seconds * 1000), _longest_ms))
    try:
        return await task
    except asyncio.CancelledError:
        if is_late:
            raise asyncio.TimeoutError from None
        raise
    finally:
        js.clearTimeout(timer)
        when_late.destroy()


async def _looking(task: "asyncio.Future[Reply]", seconds: float) -> Reply:
    """The same where the host gives Python only what `fetch` needs of JavaScript. None of its timers lasts longer than a second."""
    end = time.monotonic() + seconds
    try:
        while not task.done():
            left = end - time.monotonic()
            if left <= 0:
                raise asyncio.TimeoutError
            await asyncio.wait({task}, timeout=min(left, 1.0))
        return task.result()
    finally:
        task.cancel()


def _headers_of(response: Any) -> Dict[str, str]:
    names = ("content-type", "retry-after")
    return {name: str(response.headers.get(name)) for name in names if response.headers.get(name)}


async def _read_lines(response: Any, on_event: OnEvent) -> bytes:
    reader = response.body.getReader()
    rest, answer = b"", b""
    while True:
        read = await reader.read()
        if read.done:
            break
        *lines, rest = (rest + read.value.to_bytes()).split(b"\n")
        for line in lines:
            if line.startswith(b'{"event":"result"'):
                answer = line
            elif line:
                await on_event(line)
    if not answer:
        raise Broken("the answer was cut off")
    return answer

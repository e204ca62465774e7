"""`set_tool_caller`, as the reference has it."""

from __future__ import annotations

import asyncio
from typing import Any, Mapping

import pytest
from generated import _calls, client
from served_hub import ServedHub


def text(value: str, **more: Any) -> Any:
    return {"content": [{"type": "text", "text": value}], **more}


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (text("hello"), "hello"),
        (text('{"a": 1}'), {"a": 1}),
        (text("5"), 5),
        (text("true"), True),
        (text("NaN"), "NaN"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": []}, []),
        (text("ignored", structuredContent={"result": [1]}), [1]),
        (text("ignored", structuredContent={"a": 1}), {"a": 1}),
        ("plain", "plain"),
        ({"a": 1}, {"a": 1}),
        (None, None),
        ([1, 2], [1, 2]),
    ],
)
def test_it_makes_all_calls_in_both_ways(given: Any, value: Any) -> None:
    seen = []

    def caller(name: str, arguments: Mapping[str, Any]) -> Any:
        seen.append((name, arguments))
        return given

    async def async_caller(name: str, arguments: Mapping[str, Any]) -> Any:
        await asyncio.sleep(0)
        return caller(name, arguments)

    for each in (caller, async_caller):
        client.set_tool_caller(each)
        assert asyncio.run(client.call_tool("github__star_repo", {"owner": "x"})) == value
        assert client.call_tool_sync("github__star_repo", {"owner": "x"}) == value

        async def cell() -> Any:
            return _calls.call_sync("github", "star_repo", {"owner": "x"}).value

        assert asyncio.run(cell()) == value
    assert seen == [("github__star_repo", {"owner": "x"})] * 6


def test_a_failed_result_is_a_runtime_error() -> None:
    client.set_tool_caller(lambda name, arguments: text("broken", isError=True))
    with pytest.raises(RuntimeError, match="broken") as raised:
        client.call_tool_sync("github__star_repo")
    assert isinstance(raised.value, client.ToolError) and raised.value.content == [{"type": "text", "text": "broken"}]


def test_its_own_errors_pass_through() -> None:
    def caller(name: str, arguments: Mapping[str, Any]) -> Any:
        raise KeyError(name)

    client.set_tool_caller(caller)
    with pytest.raises(KeyError):
        asyncio.run(client.call_tool("github__star_repo"))


def test_http_call_tool_goes_past_it_and_none_takes_it_back(owner: ServedHub) -> None:
    client.set_tool_caller(lambda name, arguments: "mine")
    assert client.call_tool_sync("calls__echo", {"a": 1}) == "mine"
    assert asyncio.run(client.http_call_tool("calls", "echo", {"a": 1})) == {"a": 1}
    client.set_tool_caller(None)
    assert client.call_tool_sync("calls__echo", {"a": 1}) == {"a": 1}


def test_an_image_of_an_mcp_library_becomes_one() -> None:
    class Result:
        content = ()

        def model_dump(self, **_: Any) -> Any:
            return {"content": [{"type": "image", "data": "AAEC", "mimeType": "image/png"}], "isError": False}

    client.set_tool_caller(lambda name, arguments: Result())
    assert client.call_tool_sync("a__b").data == b"\x00\x01\x02"


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        client.set_tool_caller("http://127.0.0.1")  # type: ignore[arg-type]


def test_the_arguments_are_a_dictionary_of_its_own() -> None:
    arguments = {"a": 1}
    client.set_tool_caller(lambda name, given: given.update(b=2))  # type: ignore[attr-defined]
    client.call_tool_sync("a__b", arguments)
    assert arguments == {"a": 1}

"""Results of callers that were set with `set_tool_caller`: plain values, or MCP results in the forms that the reference knows."""

from __future__ import annotations

import json
from typing import Any, Callable, List, Mapping

from ._media import are_blocks, to_value
from ._values import ToolError, ToolResult


def ask_caller(caller: Callable[[str, Mapping[str, Any]], Any], server: str, tool: str, arguments: Mapping[str, Any]) -> Any:
    """The caller gets a dictionary of its own."""
    return caller(f"{server}__{tool}", dict(arguments))


def from_caller(given: Any, server: str, tool: str) -> ToolResult:
    """A dictionary with `content`, or an object of an MCP library, is a result; everything else is the value."""
    if isinstance(given, ToolResult):
        return given
    if callable(getattr(given, "model_dump", None)) and hasattr(given, "content"):
        given = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not isinstance(given, dict) or not isinstance(given.get("content"), list):
        return ToolResult(given)
    content: List[Any] = given["content"]
    structured = given.get("structuredContent")
    text = "\n".join(block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))
    if given.get("isError") or given.get("is_error"):
        message = f"{tool} ({server}): {text or 'The tool failed and did not say why.'}"
        raise ToolError(message, server=server, tool=tool, content=content, structured=structured)
    meta = given.get("_meta")
    value: Any
    if structured is not None:
        lone = isinstance(structured, dict) and structured.keys() == {"result"}
        value = structured = structured["result"] if lone else structured
    elif are_blocks(content):
        value = to_value(content)
    else:
        value = _parse(text) if content else to_value(content)
    return ToolResult(value, content=content, structured=structured, meta=meta if isinstance(meta, dict) else None)


def _parse(text: str) -> Any:
    """Callers of the reference print every value as JSON, so every text that is JSON is a value."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> Any:
    raise ValueError(name)

"""Result, failure and progress of a call."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ._media import Audio, Blob, Blocks, Image, Media, ResourceLink, Text, are_blocks, bundle_of, show, to_object, to_value

__all__ = ["Audio", "Blob", "Blocks", "Image", "Media", "Progress", "ResourceLink", "Text", "ToolError", "ToolResult"]


class Progress(NamedTuple):
    """How far a tool has come, as it says itself."""

    progress: float
    #: What `progress` will be at the end, if the tool knows.
    total: Optional[float] = None
    message: Optional[str] = None


class ToolError(RuntimeError):
    """A call that failed. The text says what was found, and what to do next."""

    def __init__(
        self,
        message: str,
        *,
        server: str = "",
        tool: str = "",
        code: str = "tool_failed",
        content: Optional[List[Any]] = None,
        structured: Any = None,
        data: Any = None,
        call_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.server = server
        self.tool = tool
        #: `tool_failed` if the tool itself said so; else what prevented the call, such as `denied`, `timeout` or `hub_unreachable`.
        self.code = code
        #: The blocks of a tool that failed.
        self.content: List[Any] = content if content is not None else []
        self.structured = structured
        #: What the server says of a protocol error besides its text: `error.data` of its answer.
        self.data = data
        #: The call's id in the hub's log and audit.
        self.call_id = call_id

    def _render_traceback_(self) -> List[str]:
        from ._tracebacks import render

        return render(self)

    def __reduce__(self) -> Any:
        # Errors cross process borders (multiprocessing, concurrent.futures): keyword arguments would be lost.
        return _rebuild, (str(self), dict(self.__dict__))


def _rebuild(message: str, attributes: Dict[str, Any]) -> ToolError:
    error = ToolError(message)
    error.__dict__.update(attributes)
    return error


class ToolResult:
    """All that came back from a call. A notebook shows its text and pictures."""

    __slots__ = ("value", "_content", "structured", "meta", "call_id", "duration_ms", "is_error")

    def __init__(
        self,
        value: Any,
        *,
        content: Optional[List[Any]] = None,
        structured: Any = None,
        meta: Optional[Mapping[str, Any]] = None,
        call_id: Optional[str] = None,
        duration_ms: Optional[float] = None,
        is_error: bool = False,
    ) -> None:
        #: What a plain call returns.
        self.value = value
        self._content = content
        #: The data of a tool that gives data, and not text or pictures. A lone `{"result": X}` is X already.
        self.structured = structured
        #: The metadata of the result.
        self.meta: Mapping[str, Any] = meta if meta is not None else {}
        self.call_id = call_id
        #: How long the call took in the hub.
        self.duration_ms = duration_ms
        self.is_error = is_error

    @property
    def content(self) -> List[Any]:
        """The content blocks, as the server sent them; of a result that has none beside its value, one text."""
        if self._content is not None:
            return self._content
        if self.value is None:
            return []
        return [{"type": "text", "text": self.value if isinstance(self.value, str) else _print(self.value)}]

    def __repr__(self) -> str:
        return f"ToolResult(value={self.value!r}, is_error={self.is_error!r}, call_id={self.call_id!r})"

    def _ipython_display_(self) -> None:
        show(self._shown())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Dict[str, str]:
        return bundle_of(self._shown(), repr(self))

    def _shown(self) -> List[Any]:
        if self._content is None:
            return [self.value]
        shown = [to_object(block) for block in self._content]
        has_value = isinstance(self.value, (Blocks, Media, ResourceLink, str))
        return shown if has_value else [self.value, *(each for each in shown if not isinstance(each, Text))]


def from_answer(answer: Mapping[str, Any]) -> ToolResult:
    """The result in an answer of the tool proxy."""
    result, content = answer.get("result"), answer.get("content")
    if not isinstance(content, list):
        content = None
    # The proxy sends the list of blocks as the result where one of them is no text.
    value = result
    if content is None and type(result) is list and are_blocks(result):
        content, value = result, to_value(result)
    elif content == [] and result == []:
        # No blocks at all. An empty list as structured content comes without blocks beside it.
        value = to_value([])
    structured = answer.get("structured_content")
    if structured is None and value is result and not isinstance(result, str):
        structured = result
    return ToolResult(
        value,
        content=content,
        structured=structured,
        meta=answer.get("meta"),
        call_id=answer.get("call_id"),
        duration_ms=answer.get("duration_ms"),
        is_error=answer.get("is_error") is True,
    )


def _print(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)

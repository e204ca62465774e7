"""JSON as the hub takes and gives it. Arguments may hold what notebooks hold: arrays, dates, paths."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

from ._values import ToolError


def encode(arguments: Mapping[str, Any], server: str, tool: str) -> bytes:
    """The body of a call."""
    try:
        # Escapes everything beyond ASCII: so lone surrogates pass too.
        return b'{"arguments":' + _encoder.encode(dict(arguments)).encode("ascii") + b"}"
    except (TypeError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        found = f"The arguments for {tool} ({server}) cannot be sent as JSON: {reason}."
        message = f"{found} Pass texts, numbers, booleans, None, lists and dicts."
        raise ToolError(message, server=server, tool=tool, code="invalid_arguments") from error


def parse(body: Union[bytes, str]) -> Any:
    """The value of an answer; None if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _to_plain(value: Any) -> Any:
    # NumPy's arrays and numbers, pandas' series.
    if callable(getattr(value, "tolist", None)):
        return value.tolist()
    if callable(getattr(value, "isoformat", None)):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


_encoder = json.JSONEncoder(default=_to_plain, allow_nan=False, separators=(",", ":"))

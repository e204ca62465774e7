"""How the functions of this folder call the server `skills`."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Union

from .. import _calls
from .._values import ToolResult

#: Of list_skills: the list as objects, beside the text for agents.
SKILLS_KEY = "notebridge/skills"


async def call(tool: str, arguments: Dict[str, Any]) -> ToolResult:
    return await _calls.call("skills", tool, arguments)


def call_sync(tool: str, arguments: Dict[str, Any]) -> ToolResult:
    return _calls.call_sync("skills", tool, arguments)


def gather(
    names: Tuple[str, ...],
    first: Union[str, Mapping[str, Any], None],
    more: Mapping[str, Optional[Any]],
    optional: Tuple[str, ...] = (),
) -> Dict[str, Any]:
    """Arguments of the forms `f("x")`, `f(skill_name="x")` and `f({"skill_name": "x"})`. What is None is left out."""
    arguments: Dict[str, Any] = dict(first) if isinstance(first, Mapping) else {names[0]: first}
    arguments.update({name: value for name, value in more.items() if value is not None})
    arguments = {name: value for name, value in arguments.items() if value is not None}
    unknown = [name for name in arguments if name not in (*names, "args", "kwargs")]
    missing = [name for name in names if name not in arguments and name not in optional]
    if unknown:
        raise TypeError(f"There is no argument {unknown[0]!r} here. It takes: {', '.join(names)}")
    if missing:
        raise TypeError(f"missing required argument: {missing[0]!r}")
    return arguments

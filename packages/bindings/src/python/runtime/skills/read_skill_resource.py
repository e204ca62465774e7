from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from ._skill_call import call, call_sync, gather

_NAMES = ("skill_name", "resource_name")
_First = Union[str, Mapping[str, Any], None]


class _ReadSkillResource:
    """Reads a file that belongs to a skill."""

    async def __call__(
        self, skill_name: _First = None, resource_name: Optional[str] = None, *, arguments: Optional[Mapping[str, Any]] = None
    ) -> Any:
        """The text of the file; an `Image`, `Audio` or `Blob` if it is none. Raises `ToolError`."""
        return (await call("read_skill_resource", gather(_NAMES, skill_name or arguments, {"resource_name": resource_name}))).value

    def sync(
        self, skill_name: _First = None, resource_name: Optional[str] = None, *, arguments: Optional[Mapping[str, Any]] = None
    ) -> Any:
        """The same without `await`."""
        return call_sync("read_skill_resource", gather(_NAMES, skill_name or arguments, {"resource_name": resource_name})).value


read_skill_resource = _ReadSkillResource()

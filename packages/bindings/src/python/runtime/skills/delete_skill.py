from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Union

from ._skill_call import call, call_sync, gather

_NAMES = ("skill_name",)


class _DeleteSkill:
    """Deletes a skill that you have saved."""

    async def __call__(
        self, skill_name: Union[str, Mapping[str, Any], None] = None, *, arguments: Optional[Mapping[str, Any]] = None
    ) -> Dict[str, Any]:
        """`{"name", "deleted"}`; `deleted` is False if you have no skill of that name. Raises `ToolError`."""
        return dict((await call("delete_skill", gather(_NAMES, skill_name or arguments, {}))).value)

    def sync(
        self, skill_name: Union[str, Mapping[str, Any], None] = None, *, arguments: Optional[Mapping[str, Any]] = None
    ) -> Dict[str, Any]:
        """The same without `await`."""
        return dict(call_sync("delete_skill", gather(_NAMES, skill_name or arguments, {})).value)


delete_skill = _DeleteSkill()

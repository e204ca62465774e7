from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from ._skill_call import call, call_sync, gather

_NAMES = ("skill_name",)


class _LoadSkill:
    """Gives the instructions of a skill, with the names of its resources and scripts."""

    async def __call__(
        self, skill_name: Union[str, Mapping[str, Any], None] = None, *, arguments: Optional[Mapping[str, Any]] = None
    ) -> str:
        """The text of the skill. Raises `ToolError`; for a name that is not there it lists those that are."""
        return str((await call("load_skill", gather(_NAMES, skill_name or arguments, {}))).value)

    def sync(self, skill_name: Union[str, Mapping[str, Any], None] = None, *, arguments: Optional[Mapping[str, Any]] = None) -> str:
        """The same without `await`."""
        return str(call_sync("load_skill", gather(_NAMES, skill_name or arguments, {})).value)


load_skill = _LoadSkill()

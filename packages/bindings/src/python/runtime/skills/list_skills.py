from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .._values import ToolResult
from ._skill_call import SKILLS_KEY, call, call_sync


class _ListSkills:
    """Lists the skills: what each is for, and its resources and scripts."""

    async def __call__(self, arguments: Optional[Mapping[str, Any]] = None) -> List[Dict[str, Any]]:
        """The skills, each with `name`, `description`, `scripts` and `resources`. Raises `ToolError`.

        A script has `name` and `description`, and as far as it says so `parameters` (each with `name`, and `type`, `description`,
        `choices`, `required`), `returns`, `usage` and `env_vars`. A resource has `name`.
        """
        return _list_in(await call("list_skills", {}))

    def sync(self, arguments: Optional[Mapping[str, Any]] = None) -> List[Dict[str, Any]]:
        """The same without `await`."""
        return _list_in(call_sync("list_skills", {}))


def _list_in(result: ToolResult) -> List[Dict[str, Any]]:
    listed = result.meta.get(SKILLS_KEY, result.value)
    # A caller of one's own may know but the text.
    return listed if isinstance(listed, list) else [{"name": "", "description": str(listed)}]


list_skills = _ListSkills()

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from ._skill_call import call, call_sync, gather

_NAMES = ("skill_name", "script_name")
_First = Union[str, Mapping[str, Any], None]


class _RunSkill:
    """Runs a script that belongs to a skill, in the folder of the skill, and waits for its end."""

    async def __call__(
        self,
        skill_name: _First = None,
        script_name: Optional[str] = None,
        args: Optional[Sequence[str]] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        *,
        arguments: Optional[Mapping[str, Any]] = None,
    ) -> Dict[str, Any]:
        """What came of it: `success`, `output`, `stdout`, `stderr`, `exit_code` and more. Raises `ToolError` if it could not be run.

        Args:
            skill_name: As `list_skills` gives it.
            script_name: As `load_skill` gives it.
            args: What stands behind the script on its command line.
            kwargs: Named options: `{"size": 3}` becomes `--size 3`, and True a switch.
        """
        return dict((await call("run_skill_script", _gather(skill_name or arguments, script_name, args, kwargs))).value)

    def sync(
        self,
        skill_name: _First = None,
        script_name: Optional[str] = None,
        args: Optional[Sequence[str]] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        *,
        arguments: Optional[Mapping[str, Any]] = None,
    ) -> Dict[str, Any]:
        """The same without `await`."""
        return dict(call_sync("run_skill_script", _gather(skill_name or arguments, script_name, args, kwargs)).value)


def _gather(
    first: _First, script_name: Optional[str], args: Optional[Sequence[str]], kwargs: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    if isinstance(args, str):
        raise TypeError("args is a list of texts, such as ['--size', '3'], not one text")
    more = {"script_name": script_name, "args": None if args is None else [str(each) for each in args], "kwargs": kwargs}
    return gather(_NAMES, first, more)


run_skill = _RunSkill()

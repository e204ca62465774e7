from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from ._saved import SAVED_SKILL_KEY, run, run_sync
from ._skill_call import call, call_sync, gather

_NAMES = ("skill_name", "script_name")
_OPTIONAL = ("script_name",)
_First = Union[str, Mapping[str, Any], None]


class _RunSkill:
    """Runs a script that belongs to a skill, in the folder of the skill, and waits for its end. A saved skill runs here, with your rights."""

    async def __call__(
        self,
        skill_name: _First = None,
        script_name: Optional[str] = None,
        args: Optional[Sequence[str]] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        *,
        arguments: Optional[Mapping[str, Any]] = None,
    ) -> Dict[str, Any]:
        """What came of it: `success`, `output`, `stdout`, `stderr`, `exit_code` and more; of a saved skill also `result`.

        Raises `ToolError` if it could not be run.

        Args:
            skill_name: As `list_skills` gives it.
            script_name: As `load_skill` gives it; left out, the only one.
            args: What stands behind the script on its command line; in a saved skill the list `args`.
            kwargs: Named options: `{"size": 3}` becomes `--size 3`, and True a switch. In a saved skill they are variables.
        """
        given = _gather(skill_name or arguments, script_name, args, kwargs)
        called = await call("run_skill_script", _for_call(given))
        saved = called.meta.get(SAVED_SKILL_KEY)
        return await run(saved, given.get("args"), given.get("kwargs")) if isinstance(saved, dict) else dict(called.value)

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
        given = _gather(skill_name or arguments, script_name, args, kwargs)
        called = call_sync("run_skill_script", _for_call(given))
        saved = called.meta.get(SAVED_SKILL_KEY)
        return run_sync(saved, given.get("args"), given.get("kwargs")) if isinstance(saved, dict) else dict(called.value)


def _gather(
    first: _First, script_name: Optional[str], args: Optional[Sequence[str]], kwargs: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    if isinstance(args, str):
        raise TypeError("args is a list of texts, such as ['--size', '3'], not one text")
    return gather(_NAMES, first, {"script_name": script_name, "args": None if args is None else list(args), "kwargs": kwargs}, _OPTIONAL)


def _for_call(given: Mapping[str, Any]) -> Dict[str, Any]:
    """As a command line has them. A saved skill gets its arguments here: whatever else they are need not leave this Python."""
    sent = {name: given[name] for name in _NAMES if name in given}
    if given.get("args"):
        sent["args"] = [str(each) for each in given["args"]]
    if given.get("kwargs"):
        sent["kwargs"] = {str(name): _option(value) for name, value in given["kwargs"].items()}
    return sent


def _option(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_option(each) for each in value]
    # The hub says of an object that it is no option.
    return value if value is None or isinstance(value, (str, int, float, bool)) else {}


run_skill = _RunSkill()

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._values import ToolResult
from ._skill_call import call, call_sync

_First = Union[str, Mapping[str, Any], None]


class _SaveSkill:
    """Keeps code that worked under a name, for you alone, after its tests ran."""

    async def __call__(
        self,
        name: _First = None,
        description: Optional[str] = None,
        code: Optional[str] = None,
        *,
        tags: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        tests: Optional[str] = None,
        overwrite: bool = False,
    ) -> Dict[str, Any]:
        """`{"name", "tested"}`. Raises `ToolError`: with the code `skill_failed` if a test fails; then nothing is saved.

        Args:
            name: Letters, digits, "-" and "_".
            description: What it does; searches find it by this.
            code: Python with top-level `await`. The arguments of a run are its variables, the value of its last expression is the result.
            tags: Words for lists and searches.
            parameters: What the arguments mean.
            tests: Python that calls `await skill(**arguments)` and fails by an error. Runs in a Python of its own, with your rights.
            overwrite: Replaces one of yours that has this name.
        """
        return _saved(await call("save_skill", _gather(name, description, code, tags, parameters, tests, overwrite)))

    def sync(
        self,
        name: _First = None,
        description: Optional[str] = None,
        code: Optional[str] = None,
        *,
        tags: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        tests: Optional[str] = None,
        overwrite: bool = False,
    ) -> Dict[str, Any]:
        """The same without `await`."""
        return _saved(call_sync("save_skill", _gather(name, description, code, tags, parameters, tests, overwrite)))


def _saved(result: ToolResult) -> Dict[str, Any]:
    return dict(result.value)


def _gather(
    first: _First,
    description: Optional[str],
    code: Optional[str],
    tags: Optional[Sequence[str]],
    parameters: Optional[Mapping[str, Any]],
    tests: Optional[str],
    overwrite: bool,
) -> Dict[str, Any]:
    if isinstance(first, Mapping):
        return dict(first)
    if isinstance(tags, str):
        raise TypeError("tags is a list of texts, such as ['files'], not one text")
    given: Dict[str, Any] = {"name": first, "description": description, "code": code, "parameters": parameters, "tests": tests}
    missing = [name for name in ("name", "description", "code") if given[name] is None]
    if missing:
        raise TypeError(f"missing required argument: {missing[0]!r}")
    given["tags"] = None if tags is None else list(tags)
    given["overwrite"] = True if overwrite else None
    return {name: value for name, value in given.items() if value is not None}


save_skill = _SaveSkill()

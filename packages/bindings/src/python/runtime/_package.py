"""Packages that load what is asked for, and no more: importing one tool of a thousand loads one module."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Callable, List, Sequence


_ROOT = __name__.rpartition(".")[0]
#: Of those that there are, in the error of one that is not.
_MOST_NAMES = 20


class LazyPackage(ModuleType):
    """A package whose names are those of the modules in it, or of the functions that these hold.

    All names here have two underscores: any other may be that of a tool.
    """

    #: Whether a name stands for the function of that name in the module of that name.
    __holds_functions__: bool

    def __getattr__(self, name: str) -> Any:
        names = self.__dict__.get("__all__", ())
        if name not in names:
            if not name.startswith("__") and _is_asked_by("_handle_fromlist", 2):
                # `from … import name`, whose own words would say no more than that it cannot be imported.
                raise ImportError(f"cannot import name {name!r} from {self.__name__!r}{_advice(self.__name__, name, names)}", name=self.__name__)
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{_advice(self.__name__, name, names)}")
        try:
            module = importlib.import_module(f"{self.__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{self.__name__}.{name}":
                raise
            raise AttributeError(
                f"{self.__name__}.{name} is gone: the package was made anew since it was imported. "
                f"`importlib.reload({_ROOT})` shows what there is now"
            ) from None
        return getattr(module, name) if self.__holds_functions__ else module

    def __setattr__(self, name: str, value: Any) -> None:
        # An import of the module `star_repo` sets it on its package. The name is the function's, however it was imported.
        if self.__holds_functions__ and isinstance(value, ModuleType) and name in self.__dict__.get("__all__", ()):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> List[str]:
        return sorted({*(name for name in self.__dict__ if name.startswith("__")), *self.__dict__.get("__all__", ())})


class ToolPackage(LazyPackage):
    """The package of a server: its names are functions."""

    __holds_functions__ = True


class ServerPackage(LazyPackage):
    """The package of all servers: its names are packages."""

    __holds_functions__ = False


def open_tools(name: str) -> None:
    """Makes the package of this name one of tools. In a reload, what it had loaded is forgotten."""
    package = sys.modules[name]
    package.__class__ = ToolPackage
    _answer_for_missing()
    _forget(package, lambda child: True)


def open_servers(name: str) -> None:
    """Makes the package of this name one of servers. In a reload, loaded ones are reloaded, and removed ones are dropped."""
    package = sys.modules[name]
    package.__class__ = ServerPackage
    _answer_for_missing()
    names = package.__dict__["__all__"]
    _forget(package, lambda child: child not in names)
    reload_children(package, names)


def reload_children(package: ModuleType, names: List[str]) -> None:
    """Loads anew what was loaded of these."""
    for child in names:
        module = sys.modules.get(f"{package.__name__}.{child}")
        if module is not None and find_spec(f"{package.__name__}.{child}") is not None:
            importlib.reload(module)


def _advice(package: str, name: str, names: Sequence[str]) -> str:
    if is_newer(package, name):
        return f": it is newer than what was imported. `importlib.reload({_ROOT})` takes the package as it is now"
    from difflib import get_close_matches

    close = get_close_matches(name, names, 1, 0.6)
    meant = f". Did you mean {close[0]!r}?" if close else "."
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{meant} It has: {', '.join(sorted(names)[:_MOST_NAMES])}{more}" if names else f"{meant} It is empty: no server has listed its tools yet, or none may be called"


def is_newer(package: str, name: str) -> bool:
    """Whether the package as it is written now has a server, or a tool of one, of this name."""
    import json

    # Not below `__path__`: that is the version that was imported.
    folder = os.path.dirname(os.path.abspath(sys.modules[_ROOT].__file__ or ""))
    try:
        with open(os.path.join(folder, "_manifest.json"), encoding="utf-8") as file:
            servers = {server["python"]: {tool["python"] for tool in server["tools"]} for server in json.load(file)["servers"]}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    server = package[len(_ROOT) :].split(".")[2:]
    return name in (servers.get(server[0], ()) if server else servers)


def _is_asked_by(function: str, depth: int) -> bool:
    """Whether it is Python's own import that asks, by this function of it."""
    frame = sys._getframe(depth)
    return frame.f_code.co_name == function and frame.f_globals.get("__name__") in ("importlib._bootstrap", "_frozen_importlib")


class _Missing:
    """Asked last: says of a module that is not there which ones are. Only to an import; `find_spec` finds nothing, as it should."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        package, _, child = name.rpartition(".")
        module = sys.modules.get(package)
        if isinstance(module, LazyPackage) and _is_asked_by("_find_and_load_unlocked", 3):
            names = module.__dict__.get("__all__", ())
            if child not in names:
                raise ModuleNotFoundError(f"No module named {name!r}{_advice(package, child, names)}", name=name)
        return None


def _answer_for_missing() -> None:
    if any(type(finder) is _Missing for finder in sys.meta_path):
        return
    # That of an older version of this package, which a reload has replaced, answers for nothing any more.
    sys.meta_path[:] = [one for one in sys.meta_path if (type(one).__module__, type(one).__name__) != (__name__, "_Missing")]
    sys.meta_path.append(_Missing())


def _forget(package: ModuleType, is_gone: Callable[[str], bool]) -> None:
    prefix = f"{package.__name__}."
    gone = {full[len(prefix) :].split(".")[0] for full in list(sys.modules) if full.startswith(prefix)}
    gone = {child for child in gone if is_gone(child)}
    for full in list(sys.modules):
        if full.startswith(prefix) and full[len(prefix) :].split(".")[0] in gone:
            del sys.modules[full]
    for child in gone:
        package.__dict__.pop(child, None)

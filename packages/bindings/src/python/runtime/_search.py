"""`search("…")`: finds tools by what they are called, what they do and what they take, without loading them: as agents find them, by the hub."""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ._names import read_json

_PACKAGE = __name__.rpartition(".")[0]
#: What the hub searches for, and answers at most.
_LONGEST_QUERY, _MOST_FOUND = 1000, 50


class Hit(NamedTuple):
    """A tool that was found."""

    server: str
    name: str
    #: How it is called: `(*, owner: str, repo: str)`
    signature: str
    #: The first lines of the server's description.
    description: str
    score: float

    @property
    def function(self) -> Any:
        """The tool itself."""
        return getattr(importlib.import_module(f"{_PACKAGE}.mcp.{self.server}"), self.name)

    @property
    def code(self) -> str:
        """The line that imports it."""
        return f"from {_PACKAGE}.mcp.{self.server} import {self.name}"

    def __repr__(self) -> str:
        return f"{self.code}\n    {self.name}{self.signature}\n    {self.description}"


class Hits(List[Hit]):
    """What was found, the best first. Prints as a list to read."""

    def __repr__(self) -> str:
        return "\n\n".join(repr(hit) for hit in self) if self else "No tool was found."


def search(query: str = "", *, server: Optional[str] = None, limit: int = 10) -> Hits:
    """Finds tools by words of their names, descriptions and parameters, other forms of these, and common words for the same.

    Args:
        query: What the tool should do: `"star a repository"`. Empty: all tools, by name; the hub is not asked.
        server: Only tools of this server.
        limit: At most so many; of those that are found, 50.
    """
    entries = [entry for entry in _load() if server is None or server in (entry["server"], entry["wire_server"])]
    most = max(0, limit)
    if not query.strip():
        return Hits(_hit(entry, 0.0) for entry in entries[:most])
    wanted = {} if server is None or not entries else {"server": entries[0]["wire_server"]}
    by_wire = {(entry["wire_server"], entry["wire_name"]): entry for entry in entries}
    found = _ask({**wanted, "query": query[:_LONGEST_QUERY], "limit": _MOST_FOUND, "detail": "name"}) if entries else []
    # Those that this package does not have are newer, or none of its functions.
    hits = [_hit(by_wire[key], score) for key, score in found if key in by_wire]
    return Hits(hits[:most])


def _ask(arguments: Dict[str, Any]) -> List[Tuple[Tuple[str, str], float]]:
    from ._calls import ask_hub

    results = ask_hub("search", arguments).structured["results"]
    return [((each["server"], each["tool"]), float(each["score"])) for each in results if "tool" in each]


def _hit(entry: Dict[str, Any], score: float) -> Hit:
    return Hit(entry["server"], entry["name"], entry["signature"], entry["description"], score)


_loaded: Tuple[str, List[Dict[str, Any]]] = ("", [])


def _load() -> List[Dict[str, Any]]:
    global _loaded
    folder = importlib.import_module(_PACKAGE).__path__[0]
    if _loaded[0] != folder:
        _loaded = (folder, read_json("_index.json"))
    return _loaded[1]

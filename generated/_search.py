"""`search("…")`: finds tools by what they are called, what they do and what they take, without loading them."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ._names import read_json

_PACKAGE = __name__.rpartition(".")[0]
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_COMMON = frozenset("a an and are as at be by for from in into is it its of on or that the this to with you your".split())
#: The weight of a word by its place.
_NAME, _SERVER, _PARAMETER, _DESCRIPTION = 8.0, 3.0, 2.0, 1.0


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
    """Finds tools by words of their names, descriptions and parameters.

    Args:
        query: What the tool should do: `"star a repository"`. Empty: all tools, by name.
        server: Only tools of this server.
        limit: At most so many.
    """
    tools = [tool for tool in _load() if server is None or server in (tool.entry["server"], tool.entry["wire_server"])]
    wanted = list(dict.fromkeys(_words(query)))
    wanted = [word for word in wanted if word not in _COMMON] or wanted
    if wanted:
        ranked = _rank(tools, wanted)
    else:
        # Everything is asked for, or there is nothing to go by (`search("!?")`): the first is answered, the second is not.
        ranked = [] if query.strip() else [(0.0, tool) for tool in tools]
    return Hits(_hit(tool.entry, score) for score, tool in ranked[: max(0, limit)])


def _rank(tools: Sequence[_Tool], wanted: Sequence[str]) -> List[Tuple[float, _Tool]]:
    scores = [(tool, [tool.score(word) for word in wanted]) for tool in tools]
    # A word that few tools have says more than one that most have.
    weights = [
        math.log(1 + len(tools) / (1 + sum(1 for _, each in scores if each[index] > 0)))
        for index in range(len(wanted))
    ]
    ranked = []
    for tool, each in scores:
        found = sum(1 for score in each if score > 0)
        if found:
            total = sum(score * weight for score, weight in zip(each, weights)) * (found / len(wanted))
            ranked.append((round(total, 3), tool))
    ranked.sort(key=lambda pair: (-pair[0], pair[1].entry["server"], pair[1].entry["name"]))
    return ranked


class _Tool:
    """The words of a tool."""

    def __init__(self, entry: Dict[str, Any]) -> None:
        self.entry = entry
        self.groups: List[Tuple[float, Set[str]]] = [
            (_NAME, set(_words(f"{entry['name']} {entry['wire_name']} {entry['title']}"))),
            (_SERVER, set(_words(f"{entry['server']} {entry['wire_server']}"))),
            (_PARAMETER, set(_words(" ".join(entry["parameters"])))),
            (_DESCRIPTION, set(_words(entry["description"]))),
        ]

    def score(self, word: str) -> float:
        return max(weight * _likeness(word, words) for weight, words in self.groups)


def _likeness(word: str, words: Set[str]) -> float:
    if word in words:
        return 1.0
    # "repo" finds "repository", "stars" finds "star".
    if len(word) >= 3 and any(other.startswith(word) or (len(other) >= 3 and word.startswith(other)) for other in words):
        return 0.6
    return 0.0


def _words(text: str) -> List[str]:
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]


def _hit(entry: Dict[str, Any], score: float) -> Hit:
    return Hit(entry["server"], entry["name"], entry["signature"], entry["description"], score)


_loaded: Tuple[str, List[_Tool]] = ("", [])


def _load() -> List[_Tool]:
    global _loaded
    folder = importlib.import_module(_PACKAGE).__path__[0]
    if _loaded[0] != folder:
        _loaded = (folder, [_Tool(entry) for entry in read_json("_index.json")])
    return _loaded[1]

"""Which hub is called, and with which token.

Each in this order: `configure`, the environment, the manifest beside the package, the reference's variable, the address file
of this user's own hub, and the default port of a hub.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union, cast

from ._values import ToolError

PREFIX = "/api/v1/mcp/proxy"
DEFAULT_URL = f"http://127.0.0.1:8765{PREFIX}"
#: A little more than the hub's own limit, so that its error arrives first. Seconds.
DEFAULT_TIMEOUT = 3660.0

_VARIABLES: Tuple[str, ...] = ("NOTEBRIDGE_URL", "NOTEBRIDGE_TOKEN", "NOTEBRIDGE_TOKEN_FILE", "AGENT_RUNTIMES_MCP_PROXY_URL")
_PACKAGE_DIR = os.path.dirname(os.path.abspath(__file__))


class Origin(NamedTuple):
    """Where a connection goes: tokens belong to one of these."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


class Route(NamedTuple):
    """Everything that is needed to reach the hub."""

    origin: Origin
    #: The path of the tool proxy there.
    path: str
    token: Optional[str]
    #: Where the address and the token came from, for errors.
    url_source: str
    token_source: str
    #: The token gives access to everything of this user: the listener has to prove that it is the user's hub before it is sent.
    needs_proof: bool
    timeout: float

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"


class _Keep:
    """Stands for an option that was left out."""


_KEEP = _Keep()
_Text = Union[str, None, _Keep]

_explicit: Dict[str, Any] = {}
#: The last route, and the inputs it was derived from.
_found: Optional[Tuple[Tuple[Optional[str], ...], Route]] = None


def configure(
    *,
    url: _Text = _KEEP,
    token: _Text = _KEEP,
    token_file: Union[_Text, "os.PathLike[str]"] = _KEEP,
    timeout: Union[float, None, _Keep] = _KEEP,
) -> None:
    """Sets which hub is called. What is left out stays as it is; `None` goes back to what the environment says.

    Args:
        url: The hub's address, with or without `/api/v1/mcp/proxy`.
        token: A grant: `notebridge grant`.
        token_file: A file that holds the grant. It is read again when the hub refuses the token.
        timeout: How long a call may take, in seconds. Default: one hour and a minute.
    """
    global _found
    given: Dict[str, Any] = {"url": url, "token": token, "token_file": token_file, "timeout": timeout}
    changed = {name: value for name, value in given.items() if not isinstance(value, _Keep)}
    if changed.get("url") is not None:
        parse_url(changed["url"], "configure")
    if changed.get("timeout") is not None and not changed["timeout"] > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    _explicit.update(changed)
    _found = None


def current_route() -> Route:
    """The route to the hub. Looked for anew whenever the environment has changed."""
    get = os.environ.get
    key = (get("NOTEBRIDGE_URL"), get("NOTEBRIDGE_TOKEN"), get("NOTEBRIDGE_TOKEN_FILE"), get("AGENT_RUNTIMES_MCP_PROXY_URL"))
    if _found is not None and _found[0] == key:
        return _found[1]
    return _find(key)


def renewed_route() -> Route:
    """The route, with token files and address files read again."""
    global _found
    _found = None
    return current_route()


def default_timeout() -> float:
    """The default timeout of a call, in seconds."""
    timeout: float = _explicit.get("timeout") or DEFAULT_TIMEOUT
    return timeout


def manifest() -> Dict[str, Any]:
    """What the generator says of this package; empty if it cannot be read."""
    try:
        with open(os.path.join(_PACKAGE_DIR, "_manifest.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return cast(Dict[str, Any], found) if isinstance(found, dict) else {}


def known_tools() -> List[Tuple[str, List[str]]]:
    """The servers and tools from which the package was made, by their names on the wire."""
    return [(server["name"], [tool["name"] for tool in _named(server, "tools")]) for server in _named(manifest(), "servers")]


def parse_url(url: str, source: str) -> Tuple[Origin, str]:
    """Origin and path of a hub's address."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError):
        raise _bad_url(url, source) from None
    is_whole = parts.scheme in ("http", "https") and host and not parts.query and not parts.fragment
    if not is_whole or parts.username is not None or not (url.isascii() and url.strip().isprintable()) or " " in url.strip():
        raise _bad_url(url, source)
    path = parts.path.rstrip("/")
    origin = Origin(parts.scheme, cast(str, host), port or (443 if parts.scheme == "https" else 80))
    return origin, path if path.endswith(PREFIX) else path + PREFIX


def _find(key: Tuple[Optional[str], ...]) -> Route:
    global _found
    env: Dict[str, Optional[str]] = dict(zip(_VARIABLES, key))
    url, url_source = _find_url(env)
    own = None
    if url is None:
        own = _own_hub()
        url, url_source = (own[0], own[2]) if own is not None else (DEFAULT_URL, "the default: nothing names a hub")
    origin, path = parse_url(url, url_source)
    token, token_source = _find_token(env, origin)
    needs_proof = False
    if token is None:
        own = own if own is not None else _own_hub()
        if own is not None and own[1] is not None and _is_same_place(parse_url(own[0], own[2])[0], origin):
            token, token_source, needs_proof = own[1], own[2], True
    route = Route(origin, path, token, url_source, token_source, needs_proof, default_timeout())
    _found = (key, route)
    return route


def _find_url(env: Dict[str, Optional[str]]) -> Tuple[Optional[str], str]:
    if _explicit.get("url"):
        return _explicit["url"], "configure"
    if env["NOTEBRIDGE_URL"]:
        return env["NOTEBRIDGE_URL"], "NOTEBRIDGE_URL"
    written = manifest().get("url")
    if isinstance(written, str) and written:
        return written, os.path.join(_PACKAGE_DIR, "_manifest.json")
    if env["AGENT_RUNTIMES_MCP_PROXY_URL"]:
        return env["AGENT_RUNTIMES_MCP_PROXY_URL"], "AGENT_RUNTIMES_MCP_PROXY_URL"
    return None, ""


def _find_token(env: Dict[str, Optional[str]], origin: Origin) -> Tuple[Optional[str], str]:
    """The token for this origin: one that came with an address is for that address only."""
    why = "none was found"
    places = (
        (_explicit.get("token"), _explicit.get("token_file"), _explicit.get("url"), "configure"),
        (env["NOTEBRIDGE_TOKEN"], env["NOTEBRIDGE_TOKEN_FILE"], env["NOTEBRIDGE_URL"], "NOTEBRIDGE_"),
    )
    for token, file, url, source in places:
        if not token and not file:
            continue
        suffixes = ("TOKEN", "TOKEN_FILE", "URL") if source.endswith("_") else ("(token=)", "(token_file=)", "(url=)")
        name = f"{source}{suffixes[0 if token else 1]}"
        if url and parse_url(url, f"{source}{suffixes[2]}")[0] != origin:
            why = f"the one of {name} is for {parse_url(url, source)[0]} and is not sent elsewhere"
            continue
        if token:
            return _checked(str(token), name), name
        path = str(file)
        return _read_token(path, name), f"the file {path} ({name})"
    return None, why


def _read_token(path: str, name: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(65_536)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ToolError(f'Cannot read the token file "{path}" that {name} names: {reason}. Fix the path.', code="bad_grant") from error
    return _checked(text, f'the file "{path}"')


def _checked(token: str, source: str) -> str:
    token = token.strip()
    # It becomes a line of the request's head.
    if token and token.isascii() and token.isprintable() and " " not in token:
        return token
    raise ToolError(f"The token of {source} is empty or not a valid token. Issue one with: notebridge grant", code="bad_grant")


def _is_same_place(one: Origin, other: Origin) -> bool:
    loopback = ("127.0.0.1", "::1", "localhost")
    return one == other or (one[::2] == other[::2] and one.host in loopback and other.host in loopback)


def _own_hub() -> Optional[Tuple[str, Optional[str], str]]:
    if sys.platform == "emscripten":
        return None
    from ._own_hub import find_own_hub

    return find_own_hub()


def _named(value: Dict[str, Any], key: str) -> List[Dict[str, Any]]:
    found = value.get(key)
    return [each for each in found if isinstance(each, dict) and isinstance(each.get("name"), str)] if isinstance(found, list) else []


def _bad_url(url: object, source: str) -> ToolError:
    return ToolError(
        f"The hub's address {url!r} (from {source}) is not a valid address. Give one like http://127.0.0.1:8765, without user, query or fragment.",
        code="bad_url",
    )

"""The texts of failed calls: what was found, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, NoReturn, Optional

from ._json import parse
from ._settings import Route, known_tools
from ._values import ToolError

if TYPE_CHECKING:
    from ._conversation import Broken, Call, Reply

_SHORT = 300

#: What to do about failures that the hub does not explain.
_NEXT = {
    "upstream_unavailable": "Whether the call had an effect is unknown; it was not repeated. `notebridge servers` shows its state.",
    "timeout": "The tool may still be running.",
}


def raise_failed(call: "Call", answer: Mapping[str, Any]) -> NoReturn:
    """The tool, or the hub on its way to the tool, said that the call failed."""
    text = answer.get("error")
    text = text if isinstance(text, str) and text else "The call failed without a reason."
    code = answer.get("error_code")
    code = code if isinstance(code, str) else "tool_failed"
    content = answer.get("content")
    if not isinstance(content, list):
        result = answer.get("result")
        content = [{"type": "text", "text": result}] if answer.get("is_error") is True and isinstance(result, str) else []
    more = {
        "content": content,
        "structured": answer.get("structured_content"),
        "data": answer.get("error_data"),
        "call_id": answer.get("call_id"),
    }
    hint = f" {_NEXT[code]}" if code in _NEXT else _advice(call) if code == "tool_not_found" else ""
    raise _error(call, f"{text}{hint}", code, more)


def raise_refused(call: "Call", route: Route, reply: "Reply") -> NoReturn:
    """The hub answered with an error status."""
    body = parse(reply.body)
    if not isinstance(body, dict) or not ("detail" in body or "error" in body):
        raise_strange(call, route, reply)
    detail, code, call_id = body.get("detail", body.get("error")), body.get("error_code"), body.get("call_id")
    text = detail if isinstance(detail, str) else f"The hub answered with status {reply.status}: {str(detail)[:_SHORT]}"
    code = code if isinstance(code, str) else _CODES.get(reply.status, "refused")
    hint = ""
    if reply.status == 401:
        hint = f" {_token_of(route)} Set NOTEBRIDGE_TOKEN or NOTEBRIDGE_TOKEN_FILE to a grant of `notebridge grant`."
    elif reply.status == 404:
        hint = _advice(call)
    elif reply.status in (429, 503) and reply.headers.get("retry-after"):
        hint = f" Try again in {reply.headers.get('retry-after')} s."
    elif reply.status == 500:
        hint = " The hub's log has the rest under the call's id."
    raise _error(call, f"{text}{hint}", code, {"call_id": call_id if isinstance(call_id, str) else None})


def raise_strange(call: "Call", route: Route, reply: "Reply") -> NoReturn:
    """The answer is not from a hub, or was damaged on the way."""
    kind = (reply.headers.get("content-type") or "no type").split(";", 1)[0].strip()
    begin = reply.body[:_SHORT].decode("utf-8", "replace").strip()
    what = "a redirect, which is not followed" if 300 <= reply.status < 400 else f"{kind}: {begin!r}" if begin else "nothing"
    raise _error(
        call,
        f"{route.url} ({_from(route)}) is not a tool proxy, or its answers are changed on the way: it answered with status "
        f"{reply.status} and {what}. Set NOTEBRIDGE_URL to the address that `notebridge serve` prints.",
        "bad_answer",
    )


def raise_unreachable(call: "Call", route: Route, error: Exception, *, is_stranger: bool) -> NoReturn:
    """Nothing was sent."""
    if is_stranger:
        text = (
            f"What listens at {route.origin} did not prove that it is your hub ({error}), so your token was not sent. "
            "Start yours with `notebridge serve`, or set NOTEBRIDGE_URL and NOTEBRIDGE_TOKEN."
        )
        raise _error(call, text, "not_own_hub")
    next_step = "Start it with `notebridge serve`, or set NOTEBRIDGE_URL to where it is."
    text = f"No hub answers at {route.url} ({_from(route)}): {error}. {next_step}"
    raise _error(call, text, "hub_unreachable")


def raise_broken(call: "Call", route: Route, error: "Broken") -> NoReturn:
    """The connection ended while the call ran."""
    raise _error(
        call,
        f"The connection to the hub at {route.origin} ended before the answer arrived: {error}. Whether the tool had an effect is "
        "unknown; the call was not repeated. Look at what it changes, then call again.",
        "connection_lost",
    )


def raise_timeout(call: "Call", route: Route) -> NoReturn:
    """No answer came in time; the connection was closed, which cancels the call."""
    raise _error(
        call,
        f"No answer from {route.origin} in time; the call was cancelled. Whether the tool had an effect is unknown. "
        "Allow more time: timeout=SECONDS.",
        "timeout",
    )


def _advice(call: "Call") -> str:
    """Names of the package that are similar to this one."""
    servers = {server: tools for server, tools in known_tools()}
    if not servers:
        return ""
    if call.tool in servers.get(call.server, ()):
        return " This package was made when there was such a tool: `importlib.reload(generated)` takes the newest; `notebridge generate` makes it anew."
    from difflib import get_close_matches

    wanted, known = (call.tool, servers[call.server]) if call.server in servers else (call.server, list(servers))
    close = get_close_matches(wanted, known, 1, 0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


_CODES = {401: "bad_grant", 403: "denied", 404: "unknown_server", 413: "message_too_large", 422: "invalid_arguments", 429: "limit_reached"}


def _error(call: "Call", text: str, code: str, more: Optional[Dict[str, Any]] = None) -> ToolError:
    # The hub's own answers are of no server.
    name = f"{call.tool} ({call.server})" if call.server else call.tool
    return ToolError(f"{name}: {text}", server=call.server, tool=call.tool, code=code, **(more or {}))


def _from(route: Route) -> str:
    return f"from {route.url_source}" if not route.url_source.startswith("the default") else route.url_source


def _token_of(route: Route) -> str:
    if route.token is None:
        return f"No token was sent: {route.token_source}."
    return f"The token came from {route.token_source}."

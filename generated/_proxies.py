"""Connections through the proxies that the environment names. Never for loopback."""

from __future__ import annotations

import base64
import socket
from http.client import HTTPConnection
from typing import Any, Callable, Dict, NamedTuple, Optional
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ._connection import take_socket
from ._settings import Origin


class Proxied(NamedTuple):
    sock: socket.socket
    #: The prefix of the path in a request.
    prefix: str
    #: Header lines for the proxy.
    lines: str


def connect_by_proxy(origin: Origin, timeout: float, tls_context: Callable[[], Any]) -> Optional[Proxied]:
    """None if no proxy is meant for this address."""
    proxy = getproxies().get(origin.scheme)
    if not proxy or proxy_bypass(f"{origin.host}:{origin.port}") or proxy_bypass(origin.host):
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http" or not parts.hostname:
        found = f"the environment names a proxy of a kind that is not supported, {parts.scheme}"
        raise OSError(f"{found}. Unset {origin.scheme}_proxy, or set NO_PROXY")
    headers: Dict[str, str] = {}
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
    connection = HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)
    if origin.scheme == "http":
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return Proxied(take_socket(connection), str(origin), lines)
    connection.set_tunnel(origin.host, origin.port, headers)
    return Proxied(tls_context().wrap_socket(take_socket(connection), server_hostname=origin.host), "", "")

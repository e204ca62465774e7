"""Which hub is called, and which token it is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Optional

import pytest
from generated import _calls, _http, _own_hub, _settings, client
from raw_server import RawServer, ok, success
from served_hub import ServedHub


def call() -> Any:
    return _calls.call_sync("calls", "echo", {"a": 1}).value


def code_of(run: Callable[[], Any] = call) -> str:
    with pytest.raises(client.ToolError) as raised:
        run()
    return raised.value.code


def lay_hub_file(url: str, *, token: Optional[str] = None, pid: int = os.getpid(), mode: int = 0o600) -> Path:
    folder = Path(os.environ["XDG_STATE_HOME"], "notebridge")
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    file = folder / "hub.json"
    file.write_text(json.dumps({"url": url, "pid": pid, "startedAt": 1, "version": "1"}))
    file.chmod(mode)
    if token is not None:
        secret = folder / "owner-token"
        secret.write_text(token)
        secret.chmod(0o600)
    return file


def test_the_order_is_that_of_the_contract(monkeypatch: pytest.MonkeyPatch, manifest: Any) -> None:
    def url() -> str:
        return _settings.current_route().url

    assert url() == "http://127.0.0.1:8765/api/v1/mcp/proxy"
    lay_hub_file("http://127.0.0.1:1001")
    assert _settings.renewed_route().url == "http://127.0.0.1:1001/api/v1/mcp/proxy"
    monkeypatch.setenv("AGENT_RUNTIMES_MCP_PROXY_URL", "http://127.0.0.1:1002/api/v1/mcp/proxy")
    assert url() == "http://127.0.0.1:1002/api/v1/mcp/proxy"
    manifest({"url": "http://127.0.0.1:1003/api/v1/mcp/proxy"})
    assert url() == "http://127.0.0.1:1003/api/v1/mcp/proxy"
    monkeypatch.setenv("NOTEBRIDGE_URL", "http://127.0.0.1:1004")
    assert url() == "http://127.0.0.1:1004/api/v1/mcp/proxy"
    client.configure(url="http://127.0.0.1:1005/")
    assert url() == "http://127.0.0.1:1005/api/v1/mcp/proxy"
    client.configure(url=None)
    assert url() == "http://127.0.0.1:1004/api/v1/mcp/proxy"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://hub:80", "http://hub:80/api/v1/mcp/proxy"),
        ("http://hub", "http://hub:80/api/v1/mcp/proxy"),
        ("https://hub/", "https://hub:443/api/v1/mcp/proxy"),
        ("https://hub/api/v1/mcp/proxy/", "https://hub:443/api/v1/mcp/proxy"),
        ("https://hub/under/here", "https://hub:443/under/here/api/v1/mcp/proxy"),
        (" http://[::1]:8765 ", "http://[::1]:8765/api/v1/mcp/proxy"),
    ],
)
def test_addresses_may_have_the_prefix_or_not(given: str, url: str) -> None:
    client.configure(url=given, token="t")
    assert _settings.current_route().url == url


@pytest.mark.parametrize(
    "given",
    ["", "hub:8765", "ftp://hub", "http://", "http://user:secret@hub", "http://hub/?a=1", "http://hub/#a", "http://hub:port", "http://h b",
     "http://hub/\r\nX: 1", "http://hüb"],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_its_source(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    if given:
        with pytest.raises(client.ToolError, match="from configure"):
            client.configure(url=given)
    monkeypatch.setenv("NOTEBRIDGE_URL", given or "x")
    with pytest.raises(client.ToolError, match="NOTEBRIDGE_URL") as raised:
        call()
    assert raised.value.code == "bad_url"


def test_the_environment_reaches_a_real_hub(hub: ServedHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOTEBRIDGE_URL", hub.url)
    monkeypatch.setenv("NOTEBRIDGE_TOKEN", f" {hub.owner_token}\n")
    assert call() == {"a": 1}
    monkeypatch.delenv("NOTEBRIDGE_TOKEN")
    file = tmp_path / "token"
    file.write_text(f"{hub.owner_token}\n")
    monkeypatch.setenv("NOTEBRIDGE_TOKEN_FILE", str(file))
    assert call() == {"a": 1}


def test_a_token_file_that_rotates_is_read_again_once(hub: ServedHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    grants = [hub.grant("--allow", "calls:*"), hub.grant("--allow", "calls:*")]
    file = tmp_path / "token"
    file.write_text(grants[0]["token"])
    monkeypatch.setenv("NOTEBRIDGE_URL", hub.url)
    monkeypatch.setenv("NOTEBRIDGE_TOKEN_FILE", str(file))
    assert call() == {"a": 1}
    end = time.monotonic() + 60
    hub.revoke(grants[0]["id"])
    with pytest.raises(client.ToolError, match="NOTEBRIDGE_TOKEN_FILE") as raised:
        # The hub hears of it within a second.
        while time.monotonic() < end:
            call()
    assert raised.value.code == "bad_grant"
    file.write_text(grants[1]["token"])
    assert call() == {"a": 1}


def test_a_401_is_asked_again_once_and_only_with_another_token(tmp_path: Path) -> None:
    refusal = b'{"detail":"The token is unknown.","error_code":"bad_grant"}'
    head = f"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: {len(refusal)}\r\n\r\n".encode()
    file = tmp_path / "token"
    file.write_text("first")

    def answer(request: bytes, number: int) -> bytes:
        file.write_text(f"number{number}")
        return head + refusal

    with RawServer(answer) as server:
        client.configure(url=server.url, token_file=str(file))
        assert code_of() == "bad_grant"
        assert [b"Bearer first" in server.requests[0], b"Bearer number0" in server.requests[1]] == [True, True]
        assert len(server.requests) == 2
        client.configure(token="fixed", token_file=None)
        assert code_of() == "bad_grant"
        assert len(server.requests) == 3


def test_a_token_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    client.configure(url="http://127.0.0.1:1", token_file=tmp_path / "nothing")
    with pytest.raises(client.ToolError, match=r"nothing.*configure\(token_file=\).*No such file"):
        call()
    (tmp_path / "empty").write_text(" \n")
    client.configure(token_file=tmp_path / "empty")
    with pytest.raises(client.ToolError, match="empty or not a valid token"):
        call()
    client.configure(token="two\r\nlines", token_file=None)
    with pytest.raises(client.ToolError, match="not a valid token"):
        call()


def test_a_token_goes_only_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(lambda *_: success()) as mine, RawServer(lambda *_: success()) as other:
        monkeypatch.setenv("NOTEBRIDGE_URL", mine.url)
        monkeypatch.setenv("NOTEBRIDGE_TOKEN", "secret-of-mine")
        call()
        client.configure(url=other.url)
        call()
        assert b"Authorization: Bearer secret-of-mine\r\n" in mine.requests[0]
        assert b"secret-of-mine" not in other.requests[0] and b"Authorization" not in other.requests[0]
        client.configure(token="for-other")
        call()
        assert b"Bearer for-other" in other.requests[1]
        client.configure(url=None, token=None)
        monkeypatch.delenv("NOTEBRIDGE_URL")
        monkeypatch.setenv("AGENT_RUNTIMES_MCP_PROXY_URL", other.url)
        call()
        assert b"Bearer secret-of-mine" in other.requests[2]


def test_a_redirect_is_refused_and_the_token_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(lambda *_: success()) as thief:
        head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {thief.url}/api/v1/mcp/proxy/calls/tools/echo\r\nContent-Length: 0\r\n\r\n"
        with RawServer(lambda *_: head.encode()) as server:
            client.configure(url=server.url, token="secret")
            with pytest.raises(client.ToolError, match="redirect, which is not followed") as raised:
                call()
            assert raised.value.code == "bad_answer" and thief.requests == []


@pytest.fixture
def at_home(hub: ServedHub, monkeypatch: pytest.MonkeyPatch) -> ServedHub:
    """As a process of the user whose hub runs."""
    monkeypatch.setenv("XDG_STATE_HOME", hub.env["XDG_STATE_HOME"])
    client.configure(url=None)
    return hub


def test_ones_own_hub_is_found_without_any_setting(at_home: ServedHub) -> None:
    assert call() == {"a": 1}
    route = _settings.current_route()
    assert route.needs_proof and route.token == at_home.owner_token and "hub.json" in route.url_source


def test_ones_own_hub_needs_no_token_by_another_name_either(at_home: ServedHub, manifest: Any) -> None:
    manifest({"url": f"http://localhost:{at_home.port}/api/v1/mcp/proxy"})
    assert call() == {"a": 1}


def test_a_listener_without_the_proof_is_not_shown_the_token() -> None:
    token = f"nbo_{'a' * 43}"
    for answer in (b'{"status":"ok"}', b'{"proof":"wrong"}', b"<html>", b'{"proof":7}'):
        with RawServer(lambda *_, answer=answer: ok(answer)) as stranger:  # type: ignore[misc]
            lay_hub_file(stranger.url, token=token)
            client.configure(url=None)
            with pytest.raises(client.ToolError, match="did not prove that it is your hub") as raised:
                call()
            assert raised.value.code == "not_own_hub"
            assert stranger.requests and all(request.startswith(b"GET /healthz?challenge=") for request in stranger.requests)
            assert all(token.encode() not in request for request in stranger.requests)


def test_a_listener_that_passes_the_question_on_to_the_real_hub_is_found_out(at_home: ServedHub, monkeypatch: Any, tmp_path: Path) -> None:
    def relay(request: bytes, _: int) -> bytes:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", at_home.port)
        connection.request("GET", request.split(b" ")[1].decode())
        body = connection.getresponse().read()
        connection.close()
        assert b'"proof"' in body
        return ok(body)

    with RawServer(relay) as stranger:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        lay_hub_file(stranger.url, token=at_home.owner_token)
        client.configure(url=None)
        assert code_of() == "not_own_hub"
        assert all(at_home.owner_token.encode() not in request for request in stranger.requests)


def test_every_new_connection_asks_for_the_proof(at_home: ServedHub) -> None:
    _http.close_idle()
    assert call() == {"a": 1}
    [kept] = [kept for kept in _http._idle.values() if kept]
    assert kept[0].proved_to == at_home.owner_token


def test_address_files_that_others_could_have_written_are_not_believed() -> None:
    url = "http://127.0.0.1:1001"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    file = lay_hub_file(url)
    assert _own_hub.find_own_hub() is not None
    lay_hub_file(url, mode=0o644)
    assert _own_hub.find_own_hub() is None
    lay_hub_file(url, pid=gone.pid)
    assert _own_hub.find_own_hub() is None
    ones = ('{"url":"file:///etc","pid":1}', '{"url":5,"pid":1}', '{"url":"http://a","pid":-1}', '{"url":"http://a","pid":true}')
    for text in ("", "[]", "{", *ones):
        file.write_text(text)
        assert _own_hub.find_own_hub() is None
    target = file.with_name("target.json")
    lay_hub_file(url).rename(target)
    file.symlink_to(target)
    assert _own_hub.find_own_hub() is None
    file.unlink()
    os.mkfifo(file, 0o600)
    assert _own_hub.find_own_hub() is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_an_address_file_of_another_user_is_not_believed() -> None:
    os.chown(lay_hub_file("http://127.0.0.1:1001"), 12345, -1)
    assert _own_hub.find_own_hub() is None


def test_an_owner_token_that_is_open_to_others_is_not_used() -> None:
    lay_hub_file("http://127.0.0.1:1001", token=f"nbo_{'a' * 43}")
    Path(os.environ["XDG_STATE_HOME"], "notebridge", "owner-token").chmod(0o640)
    found = _own_hub.find_own_hub()
    assert found is not None and found[1] is None


def test_a_proxy_in_the_environment_is_not_for_loopback(owner: ServedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(lambda *_: success('"of the proxy"')) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        _http.close_idle()
        assert call() == {"a": 1}
        assert proxy.requests == []


def test_a_proxy_in_the_environment_is_used_for_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(lambda *_: success('"by the proxy"')) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:pass%20word@127.0.0.1:{proxy.port}")
        client.configure(url="http://hub.invalid:8765", token="t")
        assert call() == "by the proxy"
        target = b"http://hub.invalid:8765/api/v1/mcp/proxy/calls/tools/echo"
        assert proxy.requests[0].startswith(b"POST " + target + b" HTTP/1.1\r\nHost: hub.invalid:8765\r\n")
        assert b"Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n" in proxy.requests[0]
        monkeypatch.setenv("NO_PROXY", "hub.invalid")
        monkeypatch.setenv("no_proxy", "hub.invalid")
        _http.close_idle()
        assert code_of() == "hub_unreachable"
        assert len(proxy.requests) == 1

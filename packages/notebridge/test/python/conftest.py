"""The package under test is `generated`; the folder that holds it stands in NOTEBRIDGE_TEST_PACKAGES."""

from __future__ import annotations

import json
import os
import sys
from typing import Iterator

import pytest

sys.path.insert(0, os.environ["NOTEBRIDGE_TEST_PACKAGES"])

from generated import _http, _settings, client  # noqa: E402
from served_hub import ServedHub, fixture_server  # noqa: E402

ALL_SERVERS = {
    "values": fixture_server("values.mjs"),
    "calls": fixture_server("calls.mjs", "${HOME}/count"),
    "large": fixture_server("large.mjs"),
}


@pytest.fixture(scope="session")
def hub() -> Iterator[ServedHub]:
    """One hub for the tests that leave it as it is."""
    with ServedHub(ALL_SERVERS) as served:
        yield served


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> Iterator[None]:
    """No test sees this machine's own hub, or what another test set."""
    for name in list(os.environ):
        if name.startswith(("NOTEBRIDGE_", "AGENT_RUNTIMES_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}/state")
    client.configure(url=None, token=None, token_file=None, timeout=None)
    client.set_tool_caller(None)
    yield
    _http.close_idle()
    client.configure(url=None, token=None, token_file=None, timeout=None)
    client.set_tool_caller(None)


@pytest.fixture
def owner(hub: ServedHub) -> ServedHub:
    """Calls go to the hub, as its owner."""
    client.configure(url=hub.url, token=hub.owner_token)
    return hub


@pytest.fixture
def manifest(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> Iterator["callable"]:  # type: ignore[valid-type]
    """Lays another manifest beside the package."""

    def lay(value: object) -> None:
        with open(f"{tmp_path}/_manifest.json", "w") as file:
            json.dump(value, file)
        monkeypatch.setattr(_settings, "_PACKAGE_DIR", str(tmp_path))
        client.configure(url=None)

    yield lay

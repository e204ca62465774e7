"""`notebridge serve`, the real program, with a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List, Optional

PACKAGE = Path(__file__).resolve().parents[2]
NODE = os.environ.get("NOTEBRIDGE_TEST_NODE", "node")
PATIENCE = 60.0


def fixture_server(name: str, *args: str) -> Dict[str, Any]:
    return {"command": NODE, "args": [str(PACKAGE / "test/fixtures/servers" / name), *args]}


class ServedHub:
    """Started at once, and serving when the constructor is done."""

    def __init__(
        self,
        servers: Dict[str, Any],
        *,
        args: "tuple[str, ...]" = (),
        port: int = 0,
        home: Optional[str] = None,
        notebridge: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._owns_home = home is None
        self.home = home or tempfile.mkdtemp(prefix="notebridge-test-")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.home,
            "XDG_STATE_HOME": f"{self.home}/state",
            "XDG_CONFIG_HOME": f"{self.home}/config",
            "NOTEBRIDGE_NO_BROWSER": "1",
        }
        config = Path(self.home, "mcp.json")
        config.write_text(json.dumps({"mcpServers": servers, "notebridge": notebridge or {}}))
        words = ["serve", "--port", str(port), "--config", str(config), "--notebook", "none", *args]
        self._lines: List[str] = []
        self._changed = threading.Condition()
        self._has_ended = False
        self.process = subprocess.Popen(
            [NODE, str(PACKAGE / "bin/notebridge.js"), *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = str(json.loads(self.logged('"Serving."'))["url"])

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].rstrip("/"))

    @property
    def owner_token(self) -> str:
        return self.state("owner-token").read_text().strip()

    @property
    def counted(self) -> List[str]:
        """What the server `calls` noted, line by line."""
        file = Path(self.home, "count")
        return file.read_text().splitlines() if file.exists() else []

    def state(self, name: str) -> Path:
        return Path(self.home, "state", "notebridge", name)

    def grant(self, *args: str) -> Dict[str, Any]:
        done = subprocess.run(
            [NODE, str(PACKAGE / "bin/notebridge.js"), "grant", "--json", *args],
            env=self.env,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            timeout=PATIENCE,
        )
        found: Dict[str, Any] = json.loads(done.stdout)
        return found

    def revoke(self, identifier: str) -> None:
        command = [NODE, str(PACKAGE / "bin/notebridge.js"), "grant", "revoke", identifier]
        subprocess.run(command, env=self.env, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE)

    def logged(self, text: str) -> str:
        """Waits for a line of the log with this text."""
        with self._changed:
            found: List[str] = []

            def look() -> bool:
                found[:] = [line for line in self._lines if text in line]
                return bool(found) or self._has_ended

            if not self._changed.wait_for(look, PATIENCE) or not found:
                raise AssertionError(f"The hub did not log {text}: {''.join(self._lines)}")
            return found[0]

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Ends it and keeps its home, for another one."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()

    def close(self) -> None:
        self.stop()
        if self._owns_home:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> "ServedHub":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

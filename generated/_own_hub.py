"""This user's own running hub: its address, its token, and the proof that the listener is this hub."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import stat
import sys
from typing import Any, Optional, Tuple

_MAX_BYTES = 65_536
_VERSION = "notebridge-hub-proof-1"


def find_own_hub() -> Optional[Tuple[str, Optional[str], str]]:
    """Address, token and where they were found; None without a running hub. Files that others could have written are not trusted."""
    folder = _state_dir()
    path = os.path.join(folder, "hub.json")
    try:
        hub: Any = json.loads(_read_private(path) or "null")
    except ValueError:
        return None
    if not isinstance(hub, dict):
        return None
    url, pid = hub.get("url"), hub.get("pid")
    if not isinstance(url, str) or not re.match(r"https?://", url) or type(pid) is not int or not _is_running(pid):
        return None
    token = (_read_private(os.path.join(folder, "owner-token")) or "").strip()
    return url, token if re.fullmatch(r"nbo_[\w-]{43}", token, re.ASCII) else None, path


def new_challenge() -> str:
    """A question for a listener, asked once: `GET /healthz?challenge=…`."""
    return base64.urlsafe_b64encode(os.urandom(24)).decode("ascii")


def is_proof(body: bytes, *, token: str, port: int, challenge: str) -> bool:
    """True if the answer proves knowledge of the token, for this port: the question cannot be relayed to the real hub."""
    try:
        answer: Any = json.loads(body)
    except ValueError:
        return False
    proof = answer.get("proof") if isinstance(answer, dict) else None
    if not isinstance(proof, str) or not proof.isascii():
        return False
    digest = hmac.new(token.encode("ascii"), f"{_VERSION}\n{port}\n{challenge}".encode("ascii"), hashlib.sha256).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii"), proof)


def _state_dir() -> str:
    named, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if not os.path.isabs(named):
        named = os.path.join(home if os.path.isabs(home) else os.path.expanduser("~"), ".local", "state")
    return os.path.join(named, "notebridge")


def _read_private(path: str) -> Optional[str]:
    """The text of a file that is this user's and closed to all others; None for any other."""
    try:
        # Not blocking: somebody may have put a pipe there.
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return None
        if sys.platform != "win32" and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            return None
        return os.read(file, _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(file)


def _is_running(pid: int) -> bool:
    # On Windows signal 0 is Ctrl-C.
    if pid <= 0 or sys.platform == "win32":
        return pid > 0
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True

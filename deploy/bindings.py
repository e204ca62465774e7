"""Keeps the hub's Python bindings in a folder, for a kernel that shares none with the hub.

Environment: NOTEBRIDGE_URL, NOTEBRIDGE_TOKEN_FILE, and BINDINGS_DIR, in which `generated` is kept: a link to the newest package, so that
an import sees the old or the new one, never a mix. Runs until it is stopped. Standard library only.
"""

import io
import os
import shutil
import sys
import tarfile
import time
import urllib.error
import urllib.request
from typing import Optional, Tuple

EVERY_S = 5.0
#: Packages before the newest that stay, for kernels that still import from them.
KEPT = 3


def main() -> None:
    url = os.environ["NOTEBRIDGE_URL"].rstrip("/") + "/api/v1/mcp/proxy/bindings/python.tar.gz"
    target = os.environ["BINDINGS_DIR"]
    tag = ""
    said = ""
    while True:
        try:
            archive, tag = fetch(url, os.environ["NOTEBRIDGE_TOKEN_FILE"], tag)
            if archive is not None:
                say("%d files in %s" % (publish(archive, target), os.path.join(target, "generated")))
            said = ""
        except Exception as error:  # The hub may be away, or restarting. What is there stays.
            # Once is enough: it is tried every few seconds.
            if describe(error) != said:
                said = describe(error)
                say("not fetched: " + said)
        time.sleep(EVERY_S)


def fetch(url: str, token_file: str, tag: str) -> Tuple[Optional[bytes], str]:
    """The archive and its tag; no archive if it is the one of that tag."""
    with open(token_file, encoding="ascii") as file:
        token = file.read().strip()
    asked = urllib.request.Request(url, headers={"Authorization": "Bearer " + token, "If-None-Match": tag})
    # Straight to the hub: a proxy of the environment has no business with the token.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=60) as answer:
            return answer.read(), answer.headers["ETag"]
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return None, tag
        raise


def publish(archive: bytes, target: str) -> int:
    """Unpacks beside what is there, then lets the link point to it."""
    name = ".generated-%d" % time.time_ns()
    files = unpack(archive, os.path.join(target, name))
    link = os.path.join(target, name + ".link")
    os.symlink(name, link)
    os.replace(link, os.path.join(target, "generated"))
    old = sorted(entry for entry in os.listdir(target) if entry.startswith(".generated-") and entry != name)
    for entry in old[:-KEPT]:
        shutil.rmtree(os.path.join(target, entry), ignore_errors=True)
    return files


def unpack(archive: bytes, folder: str) -> int:
    """Plain files below `generated/` and nothing else: an archive cannot write anywhere but into the folder."""
    files = 0
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            top, *parts = member.name.split("/")
            if not member.isfile() or top != "generated" or not parts or not all(part not in ("", ".", "..") for part in parts):
                raise ValueError("the archive holds %r, which is no file of a package" % member.name)
            content = tar.extractfile(member)
            path = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                shutil.copyfileobj(content, out)  # type: ignore[arg-type]
            files += 1
    return files


def describe(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return "%d %s" % (error.code, error.read(1000).decode("utf-8", "replace"))
    return repr(error)


def say(text: str) -> None:
    print("bindings: " + text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

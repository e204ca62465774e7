"""Trades the pod's service account token for a grant of the hub, and keeps the grant's token in a file, renewed before it ends.

Environment: NOTEBRIDGE_URL, NOTEBRIDGE_TOKEN_FILE (written here, read by code in the kernel), SERVICE_ACCOUNT_TOKEN_FILE (read anew
each time: Kubernetes renews it). Runs until it is stopped. Standard library only.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

LONGEST_PAUSE_S = 30.0


def main() -> None:
    url = os.environ["NOTEBRIDGE_URL"].rstrip("/") + "/api/v1/exchange"
    source = os.environ["SERVICE_ACCOUNT_TOKEN_FILE"]
    target = os.environ["NOTEBRIDGE_TOKEN_FILE"]
    pause_s = 1.0
    while True:
        try:
            token, lifetime_s = exchange(url, source)
            write_private(target, token)
            say("the token in %s is good for %d s" % (target, lifetime_s))
            pause_s = 1.0
            time.sleep(max(1.0, lifetime_s * 2 / 3))
        except Exception as error:  # The hub may be away, or restarting: what ends this program ends the kernel's access.
            say("not exchanged, next try in %d s: %s" % (pause_s, describe(error)))
            time.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 2)


def exchange(url: str, source: str) -> "tuple[str, float]":
    with open(source, encoding="ascii") as file:
        own = file.read().strip()
    headers = {"Authorization": "Bearer " + own, "Content-Type": "application/json"}
    asked = urllib.request.Request(url, data=b"{}", headers=headers, method="POST")
    # Straight to the hub: a proxy of the environment has no business with the token.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked, timeout=30) as answer:
        grant = json.load(answer)
    return grant["token"], float(grant["expires_in"])


def write_private(path: str, text: str) -> None:
    """Readers see the old token or the new one, never half of it."""
    beside = path + ".new"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        out.write(text + "\n")
    os.replace(beside, path)


def describe(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return "%d %s" % (error.code, error.read(1000).decode("utf-8", "replace"))
    return repr(error)


def say(text: str) -> None:
    print("exchange: " + text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

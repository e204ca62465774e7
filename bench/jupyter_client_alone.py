"""jupyter_client alone: its own blocking client and a kernel. Prints "ready MS"; for each line "MS" on stdin runs `1+1` for so long,
one after the other, and prints how often and how long that was."""

import json
import sys
import time

from jupyter_client.manager import start_new_kernel

begun = time.monotonic()
manager, client = start_new_kernel(kernel_name="python3")


def run():
    shown = []
    reply = client.execute_interactive("1+1", output_hook=shown.append)
    results = [message["content"]["data"]["text/plain"] for message in shown if message["msg_type"] == "execute_result"]
    assert reply["content"]["status"] == "ok" and results == ["2"], results


run()
print("ready", round((time.monotonic() - begun) * 1000), flush=True)
for line in sys.stdin:
    start, runs = time.monotonic(), 0
    while (time.monotonic() - start) * 1000 < float(line):
        run()
        runs += 1
    print(json.dumps({"runs": runs, "elapsedMs": (time.monotonic() - start) * 1000}), flush=True)
client.stop_channels()
manager.shutdown_kernel(now=True)

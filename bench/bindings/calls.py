"""Calls the tool `echo` in three ways of a generated package, and without it, in turns, in one process.

Reads {"rounds", "turns", "calls", "token", "host", "port", "path"} from stdin; prints, for each way, a list with the median in ms and
the processor time in ms of a call, one for each round. A wrong answer ends it.
"""

import asyncio
import http.client
import json
import random
import statistics
import sys
import time

from generated.mcp.echo import echo

AT_ONCE = 32
plan = json.load(sys.stdin)
loop = asyncio.new_event_loop()
connection = http.client.HTTPConnection(plan["host"], plan["port"], timeout=60)
headers = {"authorization": f"Bearer {plan['token']}", "content-type": "application/json"}
last = 0


def new_text():
    global last
    last += 1
    return f"hello, bindings: call no. {last}"


def check(found, text):
    if found != text:
        sys.exit(f"A wrong answer: {found!r} for {text!r}")


def call_bare(text):
    connection.request("POST", plan["path"], json.dumps({"arguments": {"text": text}}).encode(), headers)
    answer = json.loads(connection.getresponse().read())
    check(answer["success"] and answer["result"], text)


def bare(calls):
    return [timed(lambda: call_bare(new_text())) for _ in range(calls)]


def sync(calls):
    def one():
        text = new_text()
        check(echo.sync(text=text), text)

    return [timed(one) for _ in range(calls)]


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def awaited(calls):
    async def all_of_them():
        times = []
        for _ in range(calls):
            text, start = new_text(), time.perf_counter()
            check(await echo(text=text), text)
            times.append(time.perf_counter() - start)
        return times

    return loop.run_until_complete(all_of_them())


def gathered(calls):
    """A call's share of the time that 32 took together."""

    async def all_of_them():
        times = []
        for _ in range(max(1, calls // AT_ONCE)):
            texts, start = [new_text() for _ in range(AT_ONCE)], time.perf_counter()
            found = await asyncio.gather(*(echo(text=text) for text in texts))
            times.append((time.perf_counter() - start) / AT_ONCE)
            for one, text in zip(found, texts):
                check(one, text)
        return times

    return loop.run_until_complete(all_of_them())


ways = {"bare": bare, "sync": sync, "await": awaited, "gather": gathered}
measured = {name: [] for name in ways}
for run in ways.values():
    run(4 * plan["calls"])
for _ in range(plan["rounds"]):
    times = {name: [] for name in ways}
    cpu = dict.fromkeys(ways, 0.0)
    calls = dict.fromkeys(ways, 0)
    for _ in range(plan["turns"]):
        for name in random.sample(list(ways), len(ways)):
            before, number = time.process_time(), last
            times[name] += ways[name](plan["calls"])
            cpu[name] += time.process_time() - before
            calls[name] += last - number
    for name, values in times.items():
        measured[name].append({"medianMs": statistics.median(values) * 1000, "cpuMs": cpu[name] / calls[name] * 1000})
connection.close()
loop.close()
print(json.dumps(measured))

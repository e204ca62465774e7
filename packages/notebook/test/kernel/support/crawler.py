# Everything of JavaScript that Python can name, make, or find, handed to `js.crawl`.
import asyncio, gc, json, sys
import js
import _pyodide_core, pyodide, pyodide.ffi, pyodide.webloop, pyodide.code
from pyodide.ffi import JsException, JsProxy, create_once_callable, create_proxy, to_js

O = js.Object
found = []


def keep(make):
    try:
        found.append((f"made {make.__code__.co_firstlineno}", make()))
    except BaseException as error:
        found.append((f"error {make.__code__.co_firstlineno}", error))


def look(name, thing):
    if isinstance(thing, JsProxy):
        found.append((name, thing))


for module_name, module in list(sys.modules.items()):
    for name, thing in list(vars(module).items()) if hasattr(module, "__dict__") else ():
        look(f"{module_name}.{name}", thing)
for thing in gc.get_objects():
    kind = type(thing).__name__
    look(kind, thing)
    if isinstance(thing, dict):
        for name, item in list(thing.items()):
            look(f"{kind} {name}", item)
    elif isinstance(thing, (list, tuple)) and len(thing) < 10_000:
        for item in thing:
            look(kind, item)
    for cell in getattr(thing, "__closure__", None) or () if kind == "function" else ():
        try:
            look(f"closure of {thing.__qualname__}", cell.cell_contents)
        except ValueError:
            pass
    for item in gc.get_referents(thing):
        look(f"referent of {kind}", item)

array = to_js([1, [2]])
literal = to_js({"a": 1, "b": {"c": 2}}, dict_converter=O.fromEntries)
controller = js.AbortController.new()
for make in (
    lambda: js,
    lambda: array,
    lambda: literal,
    lambda: to_js({1: 2}),
    lambda: to_js({1, 2}),
    lambda: to_js(b"bytes"),
    lambda: to_js(b"bytes").buffer,
    lambda: to_js(memoryview(bytearray(8))),
    lambda: array.values(),
    lambda: array.entries().next(),
    lambda: O.getPrototypeOf(array.values()),
    lambda: create_proxy(lambda: 1),
    lambda: create_proxy({"a": 1}),
    lambda: create_proxy([1]),
    lambda: create_proxy(iter([1])),
    lambda: create_proxy(array),
    lambda: create_proxy(bytearray(4)).getBuffer(),
    lambda: create_once_callable(print),
    lambda: controller,
    lambda: controller.signal,
    lambda: js.AbortSignal.abort(),
    lambda: js.AbortSignal.abort().reason,
    lambda: js.AbortSignal.timeout(1),
    lambda: js.AbortSignal.any(to_js([controller.signal])),
    lambda: js.Request.new("http://127.0.0.1:1/"),
    lambda: js.Request.new("http://127.0.0.1:1/", literal).headers,
    lambda: js.Request.new("http://127.0.0.1:1/").headers.entries(),
    lambda: js.fetch("http://127.0.0.1:1/"),
    lambda: js.fetch(),
    lambda: js.fetch("no url"),
    lambda: js.Object.constructor("1"),
    lambda: js.Object.constructor.new("1"),
    lambda: js.Request.new(literal),
    lambda: js.AbortSignal.any(5),
    lambda: js.Object.defineProperty(1, 2, 3),
    lambda: O.getOwnPropertyDescriptors(js.AbortSignal),
    lambda: O.getOwnPropertySymbols(O.getPrototypeOf(array)),
    lambda: O.groupBy,
    lambda: pyodide.webloop.scheduleCallback,
    lambda: asyncio.ensure_future(asyncio.sleep(0)),
    lambda: O.assign(create_proxy(lambda: 1), 3),
    lambda: array.at("x"),
    lambda: array.reduce(create_proxy(lambda *a: 1 / 0)),
    lambda: O.fromEntries(5),
    lambda: js.fetch("http://127.0.0.1:1/", to_js({"signal": 5}, dict_converter=O.fromEntries)),
):
    keep(make)

if ORIGIN:
    answer = await js.fetch(ORIGIN)
    for thing in (answer, answer.headers, answer.headers.entries(), answer.clone(), await answer.clone().arrayBuffer(), await answer.bytes()):
        found.append(("answer", thing))
for url in ("http://127.0.0.1:1/", "no url"):
    try:
        await js.fetch(url)
    except JsException as error:
        found.append(("error of fetch", error))

names, roots = zip(*found)
report = json.loads(js.crawl(to_js(names), to_js(roots, create_pyproxies=True), INSIDES))

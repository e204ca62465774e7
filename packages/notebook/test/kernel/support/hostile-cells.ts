/**
 * Relatives of the way out by a getter on `Object.prototype`: cells that try for one primitive each. The last expression says
 * whether it was had. `control`: the same cell has it when the runtime layer is off, so that it is known to try the right thing.
 */
export interface HostileCell {
  name: string;
  /** The body of an async function. */
  code: string;
  control: boolean;
}

/** What the cells use. Changes are undone at once: without the layer they would hit Pyodide itself. */
export const prelude = `
import asyncio, ctypes, gc, os, sys
import js
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js
O = js.Object
array, group, octets = to_js([1, 2]), to_js({1}), to_js(b"12")

def record(**fields):
    return to_js(fields, dict_converter=O.fromEntries)

def prototype(value):
    return O.getPrototypeOf(value)

def class_of(value):
    return O.getOwnPropertyDescriptor(prototype(value), "constructor").value

def spoil(values):
    """For prototypes that no proxy can stand for: each is handed to Object.defineProperty by a method of JavaScript's."""
    holders = values.map(O.getPrototypeOf)
    holders.forEach(O.defineProperty)
    return "0" in list(holders.map(O.getOwnPropertyNames)[0])

def error():
    try:
        O.defineProperty(1, 2)
    except JsException as caught:
        return to_js([caught])[0]

def symbol(name):
    Symbol = class_of(O.getOwnPropertySymbols(prototype(array))[0])
    return O.getOwnPropertyDescriptor(Symbol, name).value

def add_getter(holder, name="notebridgeTest"):
    seen = []
    getter = create_proxy(lambda this: seen.append(this), capture_this=True)
    O.defineProperty(holder, name, O.fromEntries(to_js([["get", getter], ["configurable", True]])))
    had = O.getOwnPropertyDescriptor(holder, name).get is not None
    if isinstance(name, str):
        delattr(holder, name)
    else:
        O.defineProperty(holder, name, record(value=None))
    return had

def change(holder, name):
    before = O.getOwnPropertyDescriptor(holder, name)
    after = O.assign(O.new(), before)
    after.enumerable = not before.enumerable
    O.defineProperty(holder, name, after)
    had = O.getOwnPropertyDescriptor(holder, name).enumerable != before.enumerable
    O.defineProperty(holder, name, before)
    return had

def swap(holder):
    before = prototype(holder)
    O.setPrototypeOf(holder, prototype(array))
    had = getattr(O, "is")(prototype(holder), prototype(array))
    O.setPrototypeOf(holder, before)
    return had

def forged(number):
    """Pyodide's own API, by writing its number into a proxy: the first references are always the same."""
    proxy = O.new()
    words = (ctypes.c_uint32 * 12).from_address(id(proxy))
    before, words[9] = words[9], number
    names = set(O.getOwnPropertyNames(proxy))
    return proxy, names, lambda: words.__setitem__(9, before)
`;

const prototypes = {
  Object: 'O.prototype',
  Function: 'prototype(js.Object)',
  AsyncFunction: 'prototype(to_js(["no url"]).map) and prototype(js.fetch)',
  Array: 'prototype(array)',
  'an iterator of an array': 'prototype(array.values())',
  Iterator: 'prototype(prototype(array.values()))',
  Set: 'prototype(group)',
  Uint8Array: 'prototype(octets)',
  TypedArray: 'prototype(prototype(octets))',
  String: 'prototype(js.Object.new("text"))',
  Number: 'prototype(js.Object.new(1))',
  Boolean: 'prototype(js.Object.new(True))',
  Symbol: 'class_of(O.getOwnPropertySymbols(prototype(array))[0]).prototype',
  TypeError: 'prototype(error())',
  Error: 'prototype(prototype(error()))',
  AbortController: 'js.AbortController.prototype',
  AbortSignal: 'js.AbortSignal.prototype',
  Request: 'js.Request.prototype',
  'headers of a request': 'prototype(js.Request.new("http://127.0.0.1:1/").headers)',
};

const replaced: [holder: string, code: string][] = [
  ['Set.prototype.has', 'change(prototype(group), "has")'],
  ['Array.prototype.push', 'change(prototype(array), "push")'],
  ['the next of an array', 'change(prototype(array.values()), "next")'],
  ['Function.prototype.call', 'change(prototype(js.Object), "call")'],
  ['TypedArray.prototype.subarray', 'change(prototype(prototype(octets)), "subarray")'],
  ['String.prototype.endsWith', 'change(prototype(js.Object.new("text")), "endsWith")'],
  ['Object.keys', 'change(js.Object, "keys")'],
  ['Array.from', 'change(class_of(array), "from")'],
  ['Symbol.species of Array', 'change(class_of(array), symbol("species"))'],
  ['Symbol.iterator of Array', 'change(prototype(array), symbol("iterator"))'],
  ['Symbol.hasInstance of Function', 'add_getter(js.Object, symbol("hasInstance"))'],
  ['Symbol.toPrimitive of Object', 'add_getter(O.prototype, symbol("toPrimitive"))'],
  ['Symbol.isConcatSpreadable of Array', 'add_getter(prototype(array), symbol("isConcatSpreadable"))'],
  ['Symbol.toStringTag of Object', 'add_getter(O.prototype, symbol("toStringTag"))'],
  ['a thenable of every object', 'add_getter(O.prototype, "then")'],
  ['the getter that Node reads its options with', 'add_getter(O.prototype, "noDeprecation")'],
  ['fields that descriptors lack', 'add_getter(O.prototype, "writable")'],
  ['the prototype of a prototype', 'swap(js.AbortController.prototype)'],
  ['Promise.prototype', 'spoil(to_js(["no url"]).map(js.fetch))'],
  ['ArrayBuffer.prototype', 'spoil(to_js([octets.buffer]))'],
];

/** With the layer off, `js` is the whole global scope: the same look finds what the name stands for. */
const named: [name: string, code: string][] = [
  [
    'process, by a listener too many',
    'seen = []\nO.defineProperty(O.prototype, "noDeprecation", O.fromEntries(to_js([["get", create_proxy(lambda this: seen.append(this), capture_this=True)], ["configurable", True]])))\ntry:\n    target = prototype(js.AbortSignal).new()\n    for _ in range(13): target.addEventListener("x", create_proxy(lambda *given: None))\nfinally:\n    del O.prototype.noDeprecation\nreturn callable(seen[0].kill)',
  ],
  [
    'a timer as this',
    'seen = asyncio.Future()\njs.setTimeout(create_proxy(lambda this: seen.set_result(this), capture_this=True), 1)\nreturn (await seen)._onTimeout is not None',
  ],
  [
    'the console that looks into objects',
    'seen = []\nSymbol = class_of(symbol("iterator"))\nlooked = O.new()\nO.defineProperty(looked, getattr(Symbol, "for")("nodejs.util.inspect.custom"), record(value=create_proxy(lambda *given: seen.append(given[2]) or "x")))\njs.console.log(looked)\nreturn len(seen) == 1',
  ],
  [
    'Error.prepareStackTrace',
    'seen = []\njs.Error.prepareStackTrace = create_proxy(lambda error, sites: seen.append(sites) or "x")\ntry:\n    js.Error.new().stack\nfinally:\n    js.Error.prepareStackTrace = None\nreturn len(seen) > 0',
  ],
  ['structuredClone', 'return js.structuredClone(record(a=1)).a == 1'],
  ['transferred ports', 'port = js.MessageChannel.new().port1\nreturn bool(js.structuredClone(port, record(transfer=to_js([port]))))'],
  ['a port to other threads', 'channel = js.BroadcastChannel.new("x")\nchannel.close()\nreturn True'],
  [
    'FinalizationRegistry',
    'registry = js.FinalizationRegistry.new(create_proxy(lambda held: None))\nregistry.register(O.new(), 1)\nreturn True',
  ],
  ['WebAssembly with imports', 'return bool(js.WebAssembly.Module.new(to_js(bytes.fromhex("0061736d01000000"))))'],
  ['memory of the process, by Buffer', 'return js.Buffer.poolSize > 0'],
  ['a proxy around an object of the host', 'return js.Proxy.new(js.URL, O.new()) is not None'],
  ['what RegExp remembers', 'return hasattr(js.RegExp, "lastMatch")'],
  ['crypto', 'return bool(js.crypto.subtle)'],
  ['Reflect', 'return bool(js.Reflect.ownKeys(O.new()).length == 0)'],
  ['the sockets of fetch, by its dispatcher', 'return bool(js.fetch) and bool(js.WebSocket if hasattr(js, "WebSocket") else js.FormData)'],
  [
    'signals of Node, by Pyodide',
    'from pyodide_js import _api\nreturn len(O.getOwnPropertySymbols(prototype(_api.abortSignalAny(to_js([]))))) > 0',
  ],
  ['EventTarget', 'return prototype(js.AbortSignal).name == "EventTarget"'],
  ['the listeners of a signal', 'return len(O.getOwnPropertySymbols(js.AbortController.new().signal)) > 0'],
  ['the state of a request', 'return "body" in list(O.getOwnPropertyNames(js.Request.prototype))'],
  ['queueMicrotask', 'js.queueMicrotask(create_proxy(lambda *given: None))\nreturn True'],
];

/** Refused, in most versions of Node, with the layer on or off, by another one or by how Pyodide is loaded. */
const closed: [name: string, code: string, control?: true][] = [
  ['Function', 'return js.Object.constructor("return 1")() == 1'],
  ['AsyncFunction', 'return O.getPrototypeOf(js.fetch).constructor("return 1") is not None'],
  ['run_js', 'from pyodide.code import run_js\nreturn run_js("1") == 1'],
  ['Pyodide by its name', 'import pyodide_js\nreturn bool(pyodide_js._module)'],
  ['Pyodide by its finder', 'return any("pyodide_js" in getattr(finder, "jsproxies", {}) for finder in sys.meta_path)'],
  ['Pyodide among all objects', 'return any(isinstance(thing, JsProxy) and hasattr(thing, "mountNodeFS") for thing in gc.get_objects())'],
  [
    'a folder of the host, by forged references',
    'api, names, undo = forged(5)\ntry:\n    assert "mountNodeFS" in names\n    module = api._module\n    module.FS.mkdir("/host")\n    module.FS.mount(module.FS.filesystems.NODEFS, record(root="/"), "/host")\nfinally:\n    undo()\nreturn os.path.exists("/host/etc/passwd")',
  ],
  [
    'sockets of Node, by forged references',
    'api, names, undo = forged(7)\ntry:\n    assert "runtimeEnv" in names\n    return callable(api.initializeNodeSockFS)\nfinally:\n    undo()',
  ],
  [
    'another runtime, by forged references',
    'api, names, undo = forged(7)\ntry:\n    assert "runtimeEnv" in names\n    api.runtimeEnv.IN_NODE = True\n    return api.runtimeEnv.IN_NODE is True\nfinally:\n    undo()',
  ],
  ['Pyodide made anew by C', 'ctypes.pythonapi.pyodide_js_init()\nreturn True'],
  [
    'how Node describes what it refuses, by forged references',
    'from pyodide.ffi import jsnull\nseen = []\nSymbol = class_of(O.getOwnPropertySymbols(prototype(array))[0])\nlooked = O.create(jsnull)\nO.defineProperty(looked, getattr(Symbol, "for")("nodejs.util.inspect.custom"), record(value=create_proxy(lambda *given: seen.append(given) or "x")))\napi, names, undo = forged(5)\nmodule = api._module\nundo()\nfor use in (module.randomFill, module.UTF8Decoder.decode, module.print, module.printErr):\n    try:\n        use(looked)\n    except JsException:\n        pass\nreturn len(seen) > 0',
    true,
  ],
  ['a shell by C', 'return ctypes.pythonapi.system(b"true") == 0'],
  ['the user by C', 'return ctypes.pythonapi.getuid() == __import__("posix").getuid() != 0'],
  ['a socket by C', 'import socket\nsocket.create_connection(("127.0.0.1", 9), 1)\nreturn True'],
];

export const hostileCells: readonly HostileCell[] = [
  ...Object.entries(prototypes).map(([name, holder]) => ({
    name: `a getter on the prototype of ${name}`,
    code: `return add_getter(${holder})`,
    control: true,
  })),
  ...replaced.map(([name, code]) => ({ name, code: `return ${code}`, control: true })),
  ...named.map(([name, code]) => ({ name, code, control: true })),
  ...closed.map(([name, code, control = false]) => ({ name, code, control })),
];

/** Cells that define one function for each of them, and `attempt(name)`, which tells `True` or why not. */
export const definitions = [
  prelude,
  'attempts = {}',
  ...hostileCells.map(
    ({ name, code }) => `async def attempt():\n    ${code.replaceAll('\n', '\n    ')}\nattempts[${JSON.stringify(name)}] = attempt`,
  ),
  `async def told(name):
    try:
        return "had" if await attempts[name]() else "not had"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:200]`,
].join('\n');

/** Code that attacks what runs it, for `execute_code`. `OUT` is a folder that it must not reach, `TRAP` an address, `HUB` the process of the hub. */
export interface CodeAttack {
  name: string;
  code: string;
  /** Of the call. Default 20. */
  seconds?: number;
  /** What the answer must say, as JSON. */
  says?: RegExp;
  /** It ends its Python, or makes it useless for its own session: it gets one of its own. */
  spoils?: boolean;
}

/** Whoever gets through says so; the word stands in no code, which a traceback would show. */
const through = 'print("ESC" + "APED")';

/** Each line is tried by itself; what comes of one is printed. */
function eachOf(setup: string, lines: readonly string[]): string {
  return `
import json
${setup}
for line in json.loads(r'''${JSON.stringify(lines)}'''):
    try:
        value = eval(line)
        if hasattr(value, "__await__"):
            value = await value
        print(line[:60], "->", repr(value)[:200])
    except BaseException as error:
        print(line[:60], "->", type(error).__name__)
"tried"`;
}

/** The family of what broke the first sandbox of the notebook, and what else a kernel could reach. */
export const kernelAttacks: CodeAttack[] = [
  {
    name: 'a getter on Object.prototype catches the real process',
    code: `
import js
from pyodide.ffi import create_proxy
got = []
try:
    O = js.Object
    d = O.new(); d.get = create_proxy(lambda this: got.append(this), capture_this=True); d.configurable = True
    O.defineProperty(O.prototype, 'noDeprecation', d)
    t = O.getPrototypeOf(js.AbortSignal).new()
    for i in range(13): t.addEventListener('x', create_proxy(lambda *a: None))
except BaseException as error:
    print(type(error).__name__)
for one in got:
    try:
        one.kill(HUB, 'SIGUSR1')
        ${through}
    except BaseException as error:
        print(type(error).__name__)
len(got)`,
    says: /"result":"0"/,
  },
  {
    name: 'a replaced method of Set says yes to any address',
    code: `
from pyodide.ffi import to_js
import js
A = "127.0.0.1:" + str(PORT)
S = orig = None
try:
    mine = to_js({"http://" + A, A, "GET"})
    S = mine.constructor
    orig = S.prototype.has
    S.prototype.has = orig.bind(mine)
    r = await js.fetch(TRAP)
    print(r.status)
finally:
    if orig is not None: S.prototype.has = orig`,
    says: /Error/,
  },
  {
    name: 'JavaScript from text, modules and workers',
    code: eachOf('import js, pyodide_js\nfrom pyodide.code import run_js', [
      'run_js("import(\'node:fs\')")',
      'run_js("process.env")',
      'run_js("globalThis.process.binding(\'fs\')")',
      'js.Object.constructor("return process.mainModule")()',
      'js.eval("process")',
      'js.Function.new("return this")().process',
      'js.Worker.new("data:text/javascript,0")',
      'js.WebAssembly.Module.new(js.Uint8Array.new(8)).constructor.constructor("return process.pid")()',
      'pyodide_js._module.constructor.constructor("return process.pid")()',
      'js.process.getBuiltinModule("fs").readFileSync(OUT + "/secret.txt")',
      'js.require("fs")',
      'js.importScripts("/etc/passwd")',
    ]),
  },
  {
    name: 'file systems of the machine, mounted',
    code: eachOf('import js, pyodide_js', [
      'pyodide_js.mountNodeFS("/stolen", OUT)',
      'pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, js.Object.fromEntries([["root", OUT]]), "/mnt")',
      'pyodide_js._module.FS.filesystems.NODEFS.mount',
      'open("/stolen/secret.txt").read()',
      'open("/mnt/secret.txt").read()',
      'pyodide_js._api.initializeNodeSockFS()',
      'pyodide_js.loadPackage(OUT + "/secret.txt")',
      'pyodide_js._api.loadBinaryFile(OUT + "/secret.txt")',
      'pyodide_js._api.tests',
    ]),
  },
  {
    name: 'machine code by ctypes',
    code: eachOf('import ctypes\nlib = ctypes.CDLL(None)', [
      'lib.system(("cat " + OUT + "/secret.txt > " + OUT + "/stolen").encode())',
      "lib.emscripten_run_script((\"require('fs').writeFileSync('\" + OUT + \"/stolen', '')\").encode())",
      'lib.emscripten_run_script_string(b"process.pid")',
      'lib.pyodide_js_init()',
      'ctypes.CDLL("libc.so.6").getpid()',
      'ctypes.pythonapi.PyRun_SimpleString(b"import os; os.system(chr(105)+chr(100))")',
      'lib.kill(HUB, 9)',
    ]),
    spoils: true,
  },
  {
    name: 'programs and processes',
    code: eachOf('import os, subprocess, multiprocessing, pty', [
      'os.system("touch " + OUT + "/stolen")',
      'os.popen("id").read()',
      'subprocess.run(["touch", OUT + "/stolen"])',
      'os.fork()',
      'os.execv("/bin/sh", ["sh"])',
      'os.posix_spawn("/bin/sh", ["sh", "-c", "touch " + OUT + "/stolen"], {})',
      'pty.spawn("id")',
      'multiprocessing.Process(target=print).start()',
      '[os.fork() for _ in range(1000)]',
    ]),
    says: /OSError.*"result":"'tried'"/,
  },
  {
    name: 'sockets and fetches in every way',
    code: eachOf('import socket, urllib.request, js, pyodide.http, asyncio', [
      'socket.create_connection(("127.0.0.1", PORT), 1).sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")',
      'urllib.request.urlopen(TRAP, timeout=1).read()',
      'pyodide.http.pyfetch(TRAP)',
      'pyodide.http.open_url(TRAP).read()',
      'js.fetch(TRAP)',
      'js.XMLHttpRequest.new()',
      'js.WebSocket.new(TRAP.replace("http", "ws"))',
      'js.EventSource.new(TRAP)',
      'asyncio.wait_for(asyncio.open_connection("127.0.0.1", PORT), 1)',
      'js.navigator.sendBeacon(TRAP)',
    ]),
  },
  {
    name: 'files outside',
    code: eachOf('import os, pathlib, shutil, sqlite3, zipimport, runpy, linecache, importlib', [
      'open(OUT + "/secret.txt").read()',
      'open("/proc/self/root" + OUT + "/secret.txt").read()',
      'open("../" * 20 + OUT + "/secret.txt").read()',
      'os.listdir(OUT)',
      'os.symlink(OUT, "/tmp/link") or open("/tmp/link/secret.txt").read()',
      'pathlib.Path(OUT, "stolen").write_text("")',
      'os.mkdir(OUT)',
      'linecache.getlines(OUT + "/secret.txt")',
      'runpy.run_path(OUT + "/secret.txt")',
      'shutil.copy(OUT + "/secret.txt", "/tmp/x")',
      'sqlite3.connect(OUT + "/stolen").execute("create table a (b)")',
      'os.open(OUT, os.O_RDONLY)',
    ]),
  },
  {
    name: 'the tables of processes, and the environment',
    code: eachOf('import os, js', [
      'open("/proc/self/environ").read()',
      'open("/proc/%d/environ" % HUB).read()',
      'os.listdir("/proc/%d/fd" % HUB)',
      'open("/proc/%d/mem" % HUB, "rb").read(1)',
      'dict(os.environ)',
      'js.process.env',
      'os.getenv("ATTACKED_SECRET")',
      '[name for name in os.environ if "NOTEBRIDGE" in name or "ATTACKED" in name]',
    ]),
  },
  {
    name: 'signals to the hub',
    code: eachOf('import os, signal, js', [
      'os.kill(HUB, signal.SIGKILL)',
      'os.kill(os.getppid(), signal.SIGTERM)',
      'os.killpg(0, signal.SIGTERM)',
      'os.kill(-1, signal.SIGTERM)',
      'signal.raise_signal(signal.SIGTERM)',
      'js.process.kill(HUB)',
      'signal.pthread_kill(1, 9)',
    ]),
    spoils: true,
  },
  {
    name: 'threads and shared memory',
    code: eachOf('import threading, _thread, concurrent.futures as futures, js', [
      'threading.Thread(target=print).start()',
      '_thread.start_new_thread(print, ())',
      'futures.ThreadPoolExecutor().submit(print)',
      'futures.ProcessPoolExecutor().submit(print)',
      'js.SharedArrayBuffer.new(8)',
      'js.Atomics.wait(js.Int32Array.new(8), 0, 0, 100)',
      'js.MessageChannel.new()',
      'js.BroadcastChannel.new("x")',
      'js.structuredClone(js.Object.new())',
    ]),
  },
  {
    name: 'gigabytes at once and bit by bit',
    code: `
got = []
try:
    got.append(bytearray(2**31 - 1))
except MemoryError:
    print("no")
try:
    while len(got) < 100:
        got.append(bytearray(2**28))
except MemoryError:
    print("no more")
n = len(got)
got.clear()
n`,
    seconds: 40,
    spoils: true,
  },
  {
    name: 'protocol frames in what is printed, on every descriptor',
    code: `
import os, sys, json
frames = [json.dumps({"jsonrpc": "2.0", "method": "notifications/forged", "params": {}}),
          json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"forged": True}}),
          json.dumps({"type": "done", "count": 1, "status": "ok"}), json.dumps({"type": "dead", "reason": "forged"}),
          "Content-Length: 2\\r\\n\\r\\n{}"]
for frame in frames:
    print(frame)
    print("\\n" + frame + "\\n", file=sys.stderr)
    for number in range(10):
        try:
            os.write(number, (frame + "\\n").encode())
        except OSError:
            pass
    sys.__stdout__.write("\\x1e" + frame + "\\n")
"printed"`,
    says: /"result":"'printed'"/,
  },
  { name: 'the end of Python by recursion', code: 'def f(): return f()\ntry:\n    f()\nexcept RecursionError:\n    print("ok")\n"on"' },
  { name: 'the end of Python by sys.exit', code: 'import sys\nsys.exit(0)' },
  {
    name: 'a module of the standard library that is replaced for the next execution',
    code: 'import sys, json, asyncio\nclass Bad:\n    def __getattr__(self, name): raise SystemExit(name)\nfor name in ("importlib", "generated", "traceback", "ast"):\n    sys.modules[name] = Bad()\n"replaced"',
    spoils: true,
  },
  {
    name: 'builtins that are replaced for the next execution',
    code: 'import builtins\nkept = (builtins.repr, builtins.compile, builtins.exec, builtins.print)\nbuiltins.repr = builtins.compile = builtins.exec = lambda *a, **k: 1/0\n"replaced"',
    spoils: true,
  },
];

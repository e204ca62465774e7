// A Python environment of our own, for tests and scripts that hold our files against Python's real tools. Made once, in
// node_modules/.cache: nothing outside the checkout is touched. `node scripts/python-env.mjs nbformat` prints its Python.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const timeoutMs = 10 * 60_000;

// Python itself does the work under a lock of the operating system: several test processes may ask at once, and a lock whose
// holder was killed is gone with it. What a killed one left half made has no stamp, and is made again.
// The packages are installed by uv, which takes a tenth of pip's time and has what two environments share only once; where it can't be
// had, or does not get what pip gets (from an index that pip's own settings name), pip does it.
const program = `
import os, shutil, subprocess, sys
folder, wanted = sys.argv[1], sys.argv[2:]
def say(text):
    print("python: " + text, file=sys.stderr, flush=True)
def locked(folder):
    lock = open(folder + ".lock", "w")
    try:
        import fcntl
        fcntl.flock(lock, fcntl.LOCK_EX)
    except ImportError:
        pass
    return lock
def program_of(folder, name):
    return os.path.join(folder, "Scripts" if os.name == "nt" else "bin", name)
def run(*words, **options):
    return subprocess.run(words, stdout=sys.stderr, **options)
def make(folder, *options):
    """Its stamp, which the caller writes when all is done; None if it was there."""
    stamp = os.path.join(folder, "made-by-notebridge")
    if os.path.exists(stamp):
        return None
    say("making a virtual environment in " + os.path.relpath(folder))
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", *options, folder, check=True)
    return stamp
def by_pip(python, packages, **options):
    return run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *packages, **options)
def find_uv(cache):
    """The path of our uv, or None. It is installed once; that it can't be had is said, and asked again the next time."""
    folder = os.path.join(cache, "venv-uv")
    uv = program_of(folder, "uv")
    with locked(folder):
        stamp = make(folder)
        if stamp and by_pip(program_of(folder, "python"), ["uv"]).returncode == 0:
            open(stamp, "w").close()
    return uv if os.path.exists(uv) else None
cache = os.path.dirname(folder)
python = program_of(folder, "python")
def install(packages):
    uv = find_uv(cache)
    settings = {**os.environ, "UV_CACHE_DIR": os.path.join(cache, "uv")}
    return uv and run(uv, "pip", "install", "--quiet", "--python", python, *packages, env=settings).returncode == 0
lock = locked(folder)
stamp = make(folder, "--without-pip")
if stamp:
    # Here its packages come from uv too: ensurepip alone takes four seconds.
    if not install(["pip"]):
        run(python, "-m", "ensurepip", "--default-pip", check=True)
    open(stamp, "w").close()
check = "import importlib.metadata as m, sys\\nfor name in sys.argv[1:]:\\n  try: m.version(name.split('=')[0].split('<')[0].split('>')[0].split('~')[0])\\n  except m.PackageNotFoundError: print(name)"
missing = subprocess.run([python, "-c", check, *wanted], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
if missing:
    say("installing " + " ".join(missing))
    install(missing) or by_pip(python, missing, check=True)
print(python)
`;

/**
 * The path of a Python that has the packages; what is missing is installed, and what is done is said on stderr.
 * Throws with advice when there is no Python, or when pip fails. `NOTEBRIDGE_PYTHON` names the Python to begin with.
 * @param {readonly string[]} packages As pip takes them: `nbformat`, `jupyterlab>=4`.
 * @param {{ environment?: string }} [options] The folder of the environment. Default `venv`. What takes long to install has one of its
 * own, so that nobody else waits for it.
 * @returns {Promise<string>}
 */
export async function pythonWith(packages, { environment = 'venv' } = {}) {
  mkdirSync(cache, { recursive: true });
  const python = process.env.NOTEBRIDGE_PYTHON ?? (process.platform === 'win32' ? 'python' : 'python3');
  return (await runPython(python, ['-c', program, join(cache, environment), ...packages], { echo: true })).trim();
}

/**
 * Runs a Python program and answers with what it printed. Throws with the end of its stderr if it fails.
 * @param {string} python
 * @param {readonly string[]} args
 * @param {{ input?: string, echo?: boolean }} [options] `echo` passes its stderr on.
 * @returns {Promise<string>}
 */
export function runPython(python, args, { input = '', echo = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(python, args, { stdio: 'pipe', timeout: timeoutMs, env: { ...process.env, PYTHONUTF8: '1' } });
    let [output, complaints] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      complaints += chunk;
      if (echo) process.stderr.write(chunk);
    });
    child.on('error', (error) => reject(new Error(`${python} could not be started (${error.message}). ${advice}`, { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${python} ended with ${signal ?? `code ${code}`}:\n${complaints.slice(-4000)}\n${advice}`));
    });
    child.stdin.on('error', () => {
      // It ended without reading all; its exit code says why.
    });
    child.stdin.end(input);
  });
}

const advice = 'These tests need Python 3.9 or newer with venv (Debian, Ubuntu: apt-get install python3-venv) and pip.';

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await pythonWith(process.argv.slice(2))}\n`);

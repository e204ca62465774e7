// Python environments of our own, for tests and scripts that hold our files against Python's real tools. Made once, in .cache:
// nothing outside the checkout is touched. `node scripts/python-env.mjs science` prints the Python of one; `--lock` writes all versions anew.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cache } from './made-once.mjs';
import { firstPython, programFromWheel } from './program-from-wheel.mjs';
import { environments, leftOut } from './python-environments.mjs';

const lockFile = fileURLToPath(new URL('python-requirements.lock', import.meta.url));
const timeoutMs = 10 * 60_000;
/** The oldest Python for which all packages have a version. */
const oldestPython = '3.11';

/** Installs the packages: it takes a tenth of pip's time, and has what two environments share only once. */
const uv = {
  name: 'uv',
  version: '0.13.9',
  program: 'uv',
  sha256: [
    // Linux (glibc: x64, arm64; musl: x64), macOS (x64, arm64), Windows.
    'd7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19',
    '5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe',
    '2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25',
    'c16ed11e013557536b3e60065f1b912f6407bd6518e041b961e23ef9e6b4fbf5',
    '66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63',
    '6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b',
  ],
};

// Python itself does the work under a lock of the operating system: several test processes may ask at once, and a lock whose
// holder was killed is gone with it. What a killed one left half made has no stamp, and is made again. One environment after another:
// side by side each would fetch and unpack what they share.
const maker = `
import os, subprocess, sys, venv
folder, stamp, oldest, uv, imports = sys.argv[1:6]
requirements = sys.stdin.read()
if sys.version_info < tuple(map(int, oldest.split("."))):
    sys.exit("this is Python " + sys.version.split()[0] + ", which is too old")
lock = open(os.path.join(os.path.dirname(folder), "python.lock"), "w")
try:
    import fcntl
    fcntl.flock(lock, fcntl.LOCK_EX)
except ImportError:
    pass
made = os.path.join(folder, "made-by-notebridge")
if not os.path.exists(made) or open(made).read() != stamp:
    print("python: making the environment " + os.path.relpath(folder), file=sys.stderr, flush=True)
    venv.create(folder, clear=True, symlinks=os.name != "nt")
    python = os.path.join(folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
    cache = {"UV_CACHE_DIR": os.path.join(os.path.dirname(folder), "uv")}
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--no-build", "--python", python, "-r", "-"]
    if subprocess.run(install, input=requirements, text=True, env={**os.environ, **cache}).returncode != 0:
        sys.exit("uv could not install the packages of python-requirements.lock")
    if subprocess.run([python, "-c", imports]).returncode != 0:
        sys.exit("the packages are there, and cannot be imported")
    with open(made, "w") as file:
        file.write(stamp)
`;

/**
 * The path of a Python that has the packages, in the versions of the lock file. The environment is made if it is not there yet, which is
 * said on stderr. Throws with advice when there is no Python, when the environment can't be made, or when the lock file lacks a package.
 * @param {readonly string[]} packages Their names; without any, an environment is neither needed nor made.
 * @param {{ environment?: string }} [options]
 * @returns {Promise<string>}
 */
export async function pythonWith(packages, { environment = 'science' } = {}) {
  if (packages.length === 0) return (await runPython(firstPython, ['-c', 'import sys; print(sys.executable)'])).trim();
  const locked = lockedPackages(environment);
  const missing = packages.filter((name) => !locked.some((line) => line.startsWith(`${toDistribution(name)}==`)));
  if (missing.length === 0) return makeEnvironment(environment);
  throw new Error(
    `python-requirements.lock has no ${missing.join(', ')} for the environment "${environment}". Add what is missing to ` +
      'scripts/python-environments.mjs, and run: node scripts/python-env.mjs --lock',
  );
}

/**
 * Makes an environment, if it is not there yet, and answers with the path of its Python: at the start of a run, so that no test waits for it.
 * @param {string} environment
 * @returns {Promise<string>}
 */
export async function makeEnvironment(environment) {
  const folder = join(cache, `venv-${environment}`);
  const python = join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const requirements = lockedPackages(environment).join('\n');
  const imports = (environments[environment]?.imports ?? []).map((name) => `import ${name}`).join('\n');
  const stamp = createHash('sha256').update([firstPython, requirements, imports].join('\n\n')).digest('hex');
  const made = join(folder, 'made-by-notebridge');
  if (existsSync(python) && existsSync(made) && readFileSync(made, 'utf8') === stamp) return python;
  const args = ['-c', maker, folder, stamp, oldestPython, await findUv(), imports];
  await runPython(firstPython, args, { input: requirements, echo: true, env: { UV_HTTP_TIMEOUT: '15', UV_HTTP_RETRIES: '1' } });
  return python;
}

function findUv() {
  return programFromWheel(uv).catch((error) => {
    throw new Error(`uv, which installs Python's packages, can't be had: ${error.message}\n${advice}`, { cause: error });
  });
}

/** The lines of the lock file for an environment. @param {string} environment */
function lockedPackages(environment) {
  const [, section] = `\n${readFileSync(lockFile, 'utf8')}`.split(`\n[${environment}]\n`);
  if (section === undefined) throw new Error(`python-requirements.lock has no environment "${environment}".`);
  return section
    .replace(/\n\[.*/s, '')
    .trim()
    .split('\n');
}

/** As the lock file has names. @param {string} name */
function toDistribution(name) {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** Looks up versions for any platform, and for each Python from the oldest on. */
async function writeLock() {
  const program = await findUv();
  const how = ['--universal', '--python-version', oldestPython, '--no-header', '--no-annotate', '--no-emit-index-url', '--quiet'];
  const sections = [];
  for (const [name, { packages }] of Object.entries(environments)) {
    const found = await runPython(program, ['pip', 'compile', ...how, '-'], { input: packages.join('\n') });
    const locked = found.split('\n').filter((line) => !leftOut.some((each) => line.startsWith(`${each}==`)));
    sections.push(`[${name}]\n${locked.join('\n').trim()}\n`);
  }
  writeFileSync(lockFile, sections.join('\n'));
}

/**
 * Runs a Python program and answers with what it printed. Throws with the end of its stderr if it fails.
 * @param {string} python
 * @param {readonly string[]} args
 * @param {{ input?: string, echo?: boolean, env?: Record<string, string> }} [options] `echo` passes its stderr on.
 * @returns {Promise<string>}
 */
export function runPython(python, args, { input = '', echo = false, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    // Where the machine has Python keep nothing that it compiled, each start would compile anew.
    const ours = { PYTHONUTF8: '1', PYTHONDONTWRITEBYTECODE: '' };
    const child = spawn(python, args, { stdio: 'pipe', timeout: timeoutMs, env: { ...process.env, ...ours, ...env } });
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

const advice = `These tests need Python ${oldestPython} or newer with pip (Debian, Ubuntu: apt-get install python3-pip).`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = 'science'] = process.argv.slice(2);
  if (name === '--lock') await writeLock();
  else process.stdout.write(`${await makeEnvironment(name)}\n`);
}

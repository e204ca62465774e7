// Small helpers that every script shares: where the checkout is, how to run a program, how to say a time.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A failure whose message is for the person at the keyboard, without a stack; anything else that is thrown is a fault of the scripts. */
export class StepFailed extends Error {}

/** Runs `main` if the file at `url` is the program that was started; its answer becomes the exit code. */
export async function runMain(url, main) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  try {
    process.exitCode = (await main(process.argv.slice(2))) ?? 0;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  }
}

/**
 * Runs a program in the checkout, and answers with its exit code and everything it printed. `show` passes the output on instead.
 * A program that is not there, or that is ended by a signal or by the time limit, answers with a code that is not 0.
 */
export function run(command, args, { env = {}, show = false, timeoutMs = 600_000 } = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      // npm is a .cmd file on Windows, which only a shell can start.
      shell: process.platform === 'win32' && command === 'npm',
    });
    // `show` is for programs that a person watches: Ctrl-C reaches them from the terminal, and what they say to it is waited for.
    const timer = show ? undefined : setTimeout(() => child.kill(), timeoutMs);
    const stop = (signal) => signal === 'SIGINT' || child.kill(signal);
    const signals = show ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : [];
    for (const signal of signals) process.on(signal, stop);
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => (output += `${command}: ${error.message}\n`));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      for (const name of signals) process.off(name, stop);
      if (signal) output += `${command} was ended by ${signal}; it has ${timeoutMs / 1000} s at most\n`;
      resolve({ code: signal || code === null || code < 0 ? 1 : code, output });
    });
  });
}

/** Runs the command of an installed package with this Node: no shell, npx or .cmd file between. */
export function runTool(packageName, command, args, options) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = readJson(join(folder, 'package.json'));
  return run(process.execPath, [join(folder, typeof bin === 'string' ? bin : bin[command]), ...args], options);
}

/** The folders of the workspace's packages, relative to the checkout. */
export function packageFolders() {
  const names = readdirSync(join(root, 'packages')).sort();
  return names.map((name) => `packages/${name}`).filter((folder) => existsSync(join(root, folder, 'package.json')));
}

export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function secondsSince(startMs) {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
}

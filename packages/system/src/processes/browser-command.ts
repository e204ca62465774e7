import type { ChildProcess } from 'node:child_process';
import { parse } from 'node:path';
import type { Environment } from './environment.js';
import { startOutside } from './start-outside.js';

/**
 * The commands of a `BROWSER` variable as argument lists, with the URL in place: a list separated by colons, each with `%s` for
 * the URL or the URL at its end, as xdg-open and Python read it. Quotes group words; no shell is involved.
 */
export function parseBrowserVariable(variable: string, url: string): string[][] {
  return variable
    .split(splitAt)
    .map((command) => splitWords(command))
    .filter(([program = '']) => program !== '')
    .map((words) => putUrl(words, url));
}

/** How a launcher ended within the time that it was watched. `running` is good: many browsers stay in the foreground. */
export type LaunchOutcome = { kind: 'running' } | { kind: 'ended' } | { kind: 'failed'; why: string };

/**
 * Starts a program that may outlive us: its own group, no pipes, nothing that keeps us alive. It begins in the root folder, so that it takes
 * nothing from where we were started. Throws as `startOutside`.
 */
export function launchDetached([command = '', ...args]: readonly string[], env: Environment): ChildProcess {
  const cwd = parse(process.cwd()).root;
  const child = startOutside({ command, args, cwd, env: {}, inherited: env }, { detached: true, stdio: 'ignore' });
  child.unref();
  return child;
}

/** Waits until a launcher fails, ends, or has run for `timeoutMs`. */
export function watchLaunch(child: ChildProcess, timeoutMs: number): Promise<LaunchOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: LaunchOutcome): void => {
      clearTimeout(timer);
      child.off('exit', onExit);
      // Stays listening for errors: without a listener a late one would end our process.
      resolve(outcome);
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => settle(toOutcome(code, signal));
    const timer = setTimeout(() => settle({ kind: 'running' }), timeoutMs);
    child.on('error', (error) => settle({ kind: 'failed', why: error.message }));
    child.on('exit', onExit);
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  });
}

function toOutcome(code: number | null, signal: NodeJS.Signals | null): LaunchOutcome {
  if (code === 0) return { kind: 'ended' };
  return { kind: 'failed', why: signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}` };
}

/** Colons between commands; not the one of a Windows drive (`C:\…`) or of a URL inside a command. */
const splitAt = /:(?!\\|\/\/)/;

function splitWords(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  // A trailing "&" means "in the background" to a shell; we never wait anyway.
  const plain = words.at(-1) === '&' ? words.slice(0, -1) : words;
  return plain.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

function putUrl(words: readonly string[], url: string): string[] {
  const named = words.some((word) => word.includes('%s'));
  const filled = words.map((word) => word.replaceAll(/%[s%]/g, (mark) => (mark === '%s' ? url : '%')));
  return named ? filled : [...filled, url];
}

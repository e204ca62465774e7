import { spawn } from 'node:child_process';
import { BridgeError } from '../core/errors.js';
import type { Environment } from './environment.js';
import { withPathOutside } from './written-rule.js';

export interface ForegroundProgramOptions {
  command: string;
  args: readonly string[];
  env: Environment;
}

/** Signals of the terminal reach the program as well; the others are passed on. */
const passedOn = ['SIGTERM', 'SIGHUP'] as const;

/** Runs a program in our place: it has our terminal, and we do nothing but wait. Resolves to its exit code. Rejects with `bad_usage` if it cannot be run. */
export async function runInOurPlace({ command, args, env }: ForegroundProgramOptions): Promise<number> {
  const child = spawn(command, [...args], { env: withPathOutside(env), stdio: 'inherit' });
  const ignore = (): void => {};
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore);
  for (const signal of passedOn) process.on(signal, pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) =>
        reject(new BridgeError('bad_usage', `"${command}" cannot be run: ${error.message}`, { cause: error })),
      );
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', ignore);
    for (const signal of passedOn) process.off(signal, pass);
  }
}

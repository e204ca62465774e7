import { BridgeError } from '@notebridge/protocol/core/errors';
import { type OutsideStart, startOutside } from './start-outside.js';

/** Signals of the terminal reach the program as well; the others are passed on. */
const passedOn = ['SIGTERM', 'SIGHUP'] as const;

/** Runs a program in our place: it has our terminal, and we do nothing but wait. It takes nothing from where it begins. Resolves to its exit code. Rejects with `bad_usage` if it cannot be run. */
export async function runInOurPlace(program: Omit<OutsideStart, 'cwd' | 'marker' | 'beginsAnywhere'>): Promise<number> {
  const { command } = program;
  const child = startOutside({ ...program, beginsAnywhere: true }, { stdio: 'inherit' });
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

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Runs vitest on a folder of fixtures, with this Node. Answers with its exit code and all that it printed. */
export function runVitest(folder: string, args: string[], env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const program = fileURLToPath(new URL('../../../../node_modules/vitest/vitest.mjs', import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, 'run', '--root', folder, ...args],
      { cwd: root, env: { ...process.env, NO_COLOR: '1', ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
    );
  });
}

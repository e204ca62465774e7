import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const own = fileURLToPath(new URL('../../', import.meta.url));
const caches = fileURLToPath(new URL('../../../../.cache/', import.meta.url));

export interface ChangedProgram extends Disposable {
  command: string;
}

/** The command, built from our source with a change: what a recipe of CONTRIBUTING promises is done by a test. `change`: given a copy of `src`. */
export async function buildChanged(change: (src: string) => void): Promise<ChangedProgram> {
  mkdirSync(caches, { recursive: true });
  // Below the workspace, whose packages it finds.
  const folder = mkdtempSync(join(caches, 'changed-'));
  for (const part of ['bin', 'src', 'package.json']) cpSync(join(own, part), join(folder, part), { recursive: true });
  change(join(folder, 'src'));
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Record<string, object>;
  await build({
    absWorkingDir: folder,
    entryPoints: { 'cli/main': 'src/cli/main.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    banner: { js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);" },
    logLevel: 'error',
  }).finally(() => void stop());
  return { command: join(folder, 'bin/notebridge.js'), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

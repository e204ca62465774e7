/** The kernel's folder as a build leaves it: one .js for each .ts, and the Python files beside them. */
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { carryPrivate } from '../../../../../scripts/carry-private.mjs';
import type { KernelFiles } from '../../../src/kernel/node-kernel.js';
import { compileStandardLibrary, findPyodide, findSes, takeSnapshot } from '../../../src/kernel/pyodide-files.js';

const source = fileURLToPath(new URL('../../../src/', import.meta.url));

/** Compiling takes seconds, and many test files want it at once: kept from run to run. What a build has made of the same files is taken. */
const stdlibFolder = new URL('../../../../../.cache/', import.meta.url);
const builtFolder = new URL('../../../dist/kernel/stdlib/', import.meta.url);

export interface BuiltKernel {
  folder: URL;
  files: KernelFiles & { stdlibUrl: URL; snapshotUrl: URL };
  dispose(): void;
}

export async function buildKernel(): Promise<BuiltKernel> {
  // Node compares real paths with what it was permitted to read.
  const packageFolder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-kernel-')));
  const target = join(packageFolder, 'dist', 'kernel');
  const sources = readdirSync(join(source, 'kernel'), { recursive: true, encoding: 'utf8' }).map((file) => join('kernel', file));
  await build({
    entryPoints: sources.filter((file) => /(?<!\.test)\.ts$/.test(file)).map((file) => join(source, file)),
    outbase: source,
    outdir: join(packageFolder, 'dist'),
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  await stop();
  carryPrivate(join(packageFolder, 'dist'));
  cpSync(join(source, 'kernel', 'python'), join(target, 'python'), { recursive: true });
  // As installed: outside of what the kernel's process may read.
  writeFileSync(join(packageFolder, 'package.json'), '{ "type": "module" }');
  const folder = pathToFileURL(target + sep);
  const indexUrl = findPyodide();
  takeWhatIsBuilt();
  const stdlibUrl = await compileStandardLibrary({ indexUrl, folder: stdlibFolder });
  const files = { workerUrl: new URL('worker/node-main.js', folder), pythonUrl: new URL('python/', folder), indexUrl, stdlibUrl };
  return {
    folder,
    files: { ...files, sesUrl: findSes(), snapshotUrl: await takeSnapshot(files, stdlibFolder) },
    dispose: () => rmSync(packageFolder, { recursive: true, force: true }),
  };
}

function takeWhatIsBuilt(): void {
  if (!existsSync(builtFolder)) return;
  for (const name of readdirSync(builtFolder)) {
    const file = new URL(name, stdlibFolder);
    if (existsSync(file)) continue;
    const draft = new URL(`${file.href}.${process.pid}`);
    cpSync(new URL(name, builtFolder), draft);
    renameSync(draft, file);
  }
}

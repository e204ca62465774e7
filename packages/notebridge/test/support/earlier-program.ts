import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const published = ['bindings', 'notebook', 'notebridge'];

export interface EarlierProgram extends Disposable {
  /** Which commit it is of. */
  commit: string;
  /** The command, as its packages install it. */
  command: string;
}

/** The program of the commit before this one, built, packed, and installed in a folder of its own. Undefined in a clone that has no such commit. */
export async function earlierProgram(): Promise<EarlierProgram | undefined> {
  const found = await run('git', ['rev-parse', '--verify', '--quiet', 'HEAD~1'], { cwd: root }).catch(() => undefined);
  if (found === undefined) return undefined;
  const commit = found.stdout.trim();
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-earlier-'));
  const source = join(folder, 'source');
  mkdirSync(source);
  await run('git', ['archive', '--format=tar', '--output', join(folder, 'source.tar'), commit], { cwd: root });
  await run('tar', ['-xf', join(folder, 'source.tar'), '-C', source]);
  linkModules(source);
  await run('npm', ['run', 'build', '--workspaces', '--if-present'], { cwd: source, maxBuffer: 1 << 26 });
  const packed = published.map((name) =>
    run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], at(source, name)),
  );
  const tarballs = (await Promise.all(packed)).map(({ stdout }) => `./${(JSON.parse(stdout) as { filename: string }[])[0]?.filename}`);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: folder });
  return {
    commit,
    command: join(folder, 'node_modules/notebridge/bin/notebridge.js'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const at = (source: string, name: string): { cwd: string } => ({ cwd: join(source, 'packages', name) });

/** What is installed here is there too, but for our own packages: those are its own. */
function linkModules(source: string): void {
  const own = new Set(['notebridge', '@notebridge']);
  const into = join(source, 'node_modules');
  mkdirSync(join(into, '@notebridge'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!own.has(name)) symlinkSync(join(root, 'node_modules', name), join(into, name));
  symlinkSync('../packages/notebridge', join(into, 'notebridge'));
  for (const name of readdirSync(join(source, 'packages'))) {
    if (name !== 'notebridge') symlinkSync(`../../packages/${name}`, join(into, '@notebridge', name));
    const nested = join(root, 'packages', name, 'node_modules');
    try {
      readdirSync(nested);
      symlinkSync(nested, join(source, 'packages', name, 'node_modules'));
    } catch {
      // It has none of its own.
    }
  }
}

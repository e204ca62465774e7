// npm run check: everything but the tests, side by side. One line per part; what a part said stands below only if it failed.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolders, readJson, root, run, runMain, runTool, StepFailed, secondsSince } from './run.mjs';
import { assertNode, build, buildReason, install, installReason } from './setup.mjs';

const good = { code: 0, output: '' };

await runMain(import.meta.url, async (args) => {
  if (args.length > 0) throw new StepFailed(`Unknown option "${args[0]}"; the check has none.`);
  assertNode();
  const ready = installReason() === undefined || (await part('install', install));
  if (!ready) return 1;
  // These look at what was built: shape and names of the packages, imports of one by another, and types. The others read the sources.
  const built = part('build', async () => (buildReason() ? build() : good));
  const afterBuild = async (work) => ((await built) ? work() : { code: 1, output: 'Not looked at, because the build failed.\n' });
  const results = await Promise.all([
    built,
    part('format and lint', () =>
      runTool('@biomejs/biome', 'biome', ['ci', '--error-on-warnings', '--max-diagnostics=50', '--colors=off']),
    ),
    part('types', () => built.then(() => all(tsconfigs().map(typeCheck)))),
    part('import rules', () =>
      afterBuild(() =>
        runTool('dependency-cruiser', 'depcruise', [
          ...packageFolders().map((folder) => `${folder}/src`),
          'packages/notebridge/demo',
          '--output-type',
          'err-long',
        ]),
      ),
    ),
    part('dead code', () => runTool('knip', 'knip', ['--no-progress'])),
    part('package shape', () => afterBuild(() => all(publishedFolders().map((folder) => () => packageShape(folder))))),
    part('repository rules', () => afterBuild(() => run(process.execPath, ['scripts/repo-rules.mjs']))),
  ]);
  return results.every(Boolean) ? 0 : 1;
});

async function part(name, work) {
  const startMs = performance.now();
  const { code, output } = await work();
  process.stdout.write(`${name.padEnd(18)}${(code === 0 ? 'ok' : 'failed').padEnd(8)}${secondsSince(startMs)}\n`);
  if (code !== 0) process.stdout.write(`${output.trim().replaceAll(/^(?=.)/gm, '    ')}\n`);
  return code === 0;
}

/** Runs one after the other, to the end even if one fails: all complaints at once. */
async function all(steps) {
  const results = [];
  for (const step of steps) results.push(await step());
  return { code: Math.max(0, ...results.map((result) => result.code)), output: results.map((result) => result.output).join('') };
}

function typeCheck(tsconfig) {
  return () => runTool('@typescript/native', 'tsc', ['--noEmit', '-p', tsconfig]);
}

/** All but what the build has just compiled. */
function tsconfigs() {
  const inFolder = (folder) => readdirSync(join(root, folder)).filter((name) => /^tsconfig(\.(?!build\b)[a-z]+)?\.json$/.test(name));
  return packageFolders().flatMap((folder) => inFolder(folder).map((name) => `${folder}/${name}`));
}

function publishedFolders() {
  return packageFolders().filter((folder) => !readJson(join(root, folder, 'package.json')).private);
}

/** Looks at the very file that would be published. */
async function packageShape(folder) {
  const target = mkdtempSync(join(tmpdir(), 'notebridge-pack-'));
  try {
    const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', target, '--workspace', folder]);
    const file = readdirSync(target)[0];
    if (packed.code !== 0 || !file) return { code: 1, output: packed.output };
    const tarball = join(target, file);
    return await all([
      () => runTool('publint', 'publint', ['run', tarball, '--strict']),
      () => runTool('@arethetypeswrong/cli', 'attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji']),
    ]);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

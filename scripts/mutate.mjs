// npm run mutate: breaks the sources in one line at a time, runs the nearest tests, and says which faults no test has noticed. Which
// lines: a fixed list, and a draw by a seed, in `mutants.json`. A draw hangs on the seed and on each line alone, so it stays the same while
// tests are written. `npm run mutate -- TEXT`: only mutants whose id has that text. `--list`: names them, and runs nothing.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { privatePackages } from './carry-private.mjs';
import { readJson, root, run, runMain, StepFailed, secondsSince } from './run.mjs';

const self = fileURLToPath(import.meta.url);
/** The file that is mutated now, as it was: whoever is killed leaves it for the next run. */
const journal = join(root, 'node_modules/.mutated.json');
/** Tests that have found nothing by then are ended, and the mutant lives; or it runs in circles, where no test has ended for so long. */
const [longestMs, stillMs] = [120_000, 60_000];
/** Tests that import the source by so few modules are near; so many of them are run. */
const [maxSteps, mostTests] = [4, 8];
const opposites = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&', '===': '!==', '!==': '===' };
/** Vitest is told to read them anew. */
const changed = new Set();
let tester;
/** What needs a browser or a Jupyter server takes too long for a hundred mutants. */
const isWhole = /\/test\/(e2e|growth|simulation)\//;
const isSlow = /playwright|chromium|drivesBrowser|jupyterlab/i;

await runMain(import.meta.url, async (args) => {
  if (args[0] === '--test') return await test();
  const [isListed, text] = [args.includes('--list'), args.find((arg) => arg !== '--list') ?? ''];
  if (!isListed) restore();
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'packages/*.ts']);
  const files = [...new Set(output.trim().split('\n'))].filter((file) => existsSync(join(root, file))).sort();
  const mutants = chooseMutants(files).filter(({ id }) => id.includes(text));
  if (mutants.length === 0) throw new StepFailed(`No mutant has "${text}" in its id.`);
  const nearTests = findNearTests(files);
  for (const mutant of mutants) mutant.tests ??= nearTests(mutant.file);
  if (isListed) return console.log(mutants.map((mutant) => `${describe(mutant)}\n${mutant.tests.join(' ')}`).join('\n'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
  for (const end of [restore, endTester]) process.on('exit', end);
  return await tryAll(mutants);
});

async function tryAll(mutants) {
  const living = [];
  const killers = new Set();
  for (const mutant of mutants) {
    const startMs = performance.now();
    const { isKilled, file, by } = await tryMutant(mutant);
    if (file) killers.add(file);
    if (!isKilled) living.push(mutant);
    console.log(`${isKilled ? 'killed' : 'LIVES '}  ${mutant.id.padEnd(40)}${secondsSince(startMs).padStart(8)}  ${by}`);
  }
  // A test that is red without any mutant proves nothing.
  const red = [];
  for (const file of killers) red.push(await ask([file]));
  const faults = red.flatMap(({ isKilled, by }) => (isKilled ? [`\nRed without a mutant: ${by}`] : []));
  endTester();
  console.log([...living.map(describe), ...faults].join('\n'));
  console.log(`\nmutants: ${mutants.length - living.length} killed of ${mutants.length}`);
  return living.length + faults.length > 0 ? 1 : 0;
}

function describe({ id, file, line, from, to }) {
  return `\n${id}\n${file}:${line}\n- ${from.trim()}\n+ ${to.trim()}`;
}

async function tryMutant({ file, line, from, to, tests }) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  lines[line - 1] = lines[line - 1].replace(from, () => to);
  const broken = lines.join('\n');
  writeFileSync(journal, JSON.stringify({ path, text, broken }));
  writeFileSync(path, broken);
  changed.add(path);
  return await ask(tests).finally(restore);
}

function restore() {
  if (!existsSync(journal)) return;
  const { path, text, broken } = readJson(journal);
  // Somebody may have written there since.
  if (readFileSync(path, 'utf8') === broken) writeFileSync(path, text);
  rmSync(journal);
}

/** The answer of the tester, which is begun when there is none, in a process group of its own: what its tests have started goes with it. */
function ask(files) {
  const env = { ...process.env, NOTEBRIDGE_LEFTOVERS_GRACE_MS: '5000' };
  tester ??= spawn(process.execPath, [self, '--test'], { cwd: root, env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true });
  const [asked, startedAt] = [tester, performance.now()];
  let movedAt = startedAt;
  return new Promise((resolve) => {
    const settle = (told) => {
      clearInterval(timer);
      asked.removeAllListeners();
      if (!told.isAnswer) endTester();
      resolve(told);
    };
    const timer = setInterval(() => {
      if (performance.now() - movedAt > stillMs) settle({ isKilled: true, by: 'it runs in circles' });
      else if (performance.now() - startedAt > longestMs) settle({ isKilled: false, by: `nothing is red after ${longestMs / 1000} s` });
    }, 1000);
    asked.on('close', () => settle({ isKilled: false, by: 'the tests could not be run' }));
    asked.on('message', (told) => {
      movedAt = performance.now();
      if (told !== 'moves') settle(told);
    });
    asked.send({ files, changed: [...changed] });
  });
}

function endTester() {
  if (tester?.exitCode === null) process.kill(-tester.pid, 'SIGKILL');
  tester = undefined;
}

/** The tester: vitest, which stays, and runs the files that it is asked for in their order, up to the first red test. */
async function test() {
  const { createVitest, BaseSequencer } = await import('vitest/node');
  let order = [];
  class AsGiven extends BaseSequencer {
    async sort(specifications) {
      return specifications.toSorted((one, other) => order.indexOf(one.moduleId) - order.indexOf(other.moduleId));
    }
  }
  const onTestCaseResult = (test) => {
    process.send('moves');
    if (test.result().state === 'failed') void vitest.cancelCurrentRun('test-failure');
  };
  const limits = { maxWorkers: 1, testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 15_000 } } };
  const options = { watch: false, reporters: [{ onTestCaseResult }], sequence: { sequencer: AsGiven }, ...limits };
  const vitest = await createVitest('test', options);
  await vitest.standalone();
  // All files run in the one project that the configuration does not name. `vitest.invalidateFile` leaves it out.
  const project = vitest.getRootProject();
  const graphs = Object.values(project.vite.environments);
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ files, changed }) => {
    for (const path of changed) for (const { moduleGraph } of graphs) moduleGraph.onFileChange(path);
    order = files.map((file) => join(root, file));
    const specifications = order.map((path) => project.createSpecification(path));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
    // Vitest names those of earlier runs as well.
    const modules = order.flatMap((path) => testModules.find(({ moduleId }) => moduleId === path) ?? []);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.find((test) => test.result().state === 'failed');
    const file = (failed?.module ?? modules.find((module) => module.state() === 'failed'))?.relativeModuleId;
    const [error] = [...unhandledErrors, ...modules.flatMap((module) => module.errors())];
    const isKilled = file !== undefined || error !== undefined;
    const by = isKilled ? `${file}: ${failed?.fullName ?? error?.message.split('\n')[0]}` : `${tests.length} tests`;
    process.send({ isAnswer: true, isKilled, file, by });
  });
}

/** The fixed ones, then of each area as many as the data say, in the order of the draw, without those that change nothing. */
function chooseMutants(files) {
  const { seed, perArea, areas, fixed, equivalent } = readJson(join(root, 'scripts/mutants.json'));
  const named = fixed.map(({ id, file, after = '', from, to, tests }) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    const isBelow = (index) => lines.slice(0, index + 1).some((above) => above.includes(after));
    const line = lines.findIndex((each, index) => each.includes(from) && isBelow(index)) + 1;
    if (line === 0) throw new StepFailed(`scripts/mutants.json: ${file} has no line with "${from}" any more.`);
    return { id, file, line, from, to, tests };
  });
  const isIn = (sources, file) => !file.endsWith('.test.ts') && (sources.includes(file) || sources.includes(dirname(file)));
  const drawn = Object.values(areas).flatMap((sources) => {
    const all = files.filter((file) => isIn(sources, file)).flatMap(mutantsOf);
    const ranked = all.map((mutant) => ({ ...mutant, rank: hash('sha256', `${seed} ${mutant.id}`) }));
    ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
    return ranked.filter(({ id }) => equivalent[id] === undefined).slice(0, perArea);
  });
  return [...named, ...drawn];
}

/** Each place of the file that can be broken within its line. The id names file, line by its text, and what is done there. */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const found = [];
  const add = (operator, node, made) => {
    if (node.getText().includes('\n')) return;
    const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
    const from = lines[line];
    const to = from.slice(0, character) + made + from.slice(character + node.getText().length);
    const name = `${operator} ${from.trim()} ${to.trim()}`;
    // A line may stand there twice.
    const nth = found.filter((other) => other.name === name).length + 1;
    const id = `${basename(file, '.ts')}-${operator}-${hash('sha256', `${file} ${name} ${nth}`).slice(0, 6)}`;
    found.push({ id, name, file, line: line + 1, from, to });
  };
  const visit = (node) => {
    for (const change of changesOf(node)) add(...change);
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

function* changesOf(node) {
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = node.expression ?? node.condition;
    if (!/^[!=]==$/.test(condition.operatorToken?.getText() ?? '')) yield ['negated', condition, `!(${condition.getText()})`];
  }
  const isGuard = ts.isIfStatement(node) && !node.elseStatement && /^(return|throw|continue)\b/.test(node.thenStatement.getText());
  if (isGuard) yield ['no-guard', node, ';'];
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    if (opposites[operator]) yield ['operator', node.operatorToken, opposites[operator]];
    if ((operator === '+' || operator === '-') && node.right.getText() === '1') yield ['one', node.right, '0'];
  }
  const flipped = { [ts.SyntaxKind.TrueKeyword]: 'false', [ts.SyntaxKind.FalseKeyword]: 'true' }[node.kind];
  if (flipped && !ts.isLiteralTypeNode(node.parent)) yield ['flipped', node, flipped];
  if (ts.isExpressionStatement(node)) {
    const call = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
    // A text in the log is no behaviour.
    if (ts.isCallExpression(call) && !/\blogger\b/.test(call.expression.getText())) yield ['no-call', node, ';'];
  }
  const [, least] = /^Math\.(min|max)$/.exec(ts.isPropertyAccessExpression(node) ? node.getText() : '') ?? [];
  if (least) yield least === 'min' ? ['max', node, 'Math.max'] : ['min', node, 'Math.min'];
}

/**
 * Answers with the tests of a source: the one beside it, then those that import or bundle it by the fewest modules; of these, the ones of
 * its folder whose names begin as its own first, then the smallest.
 */
function findNearTests(files) {
  const importers = new Map(files.map((file) => [file, []]));
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  for (const file of files) for (const imported of importsOf(file, texts.get(file))) importers.get(imported)?.push(file);
  return (source) => {
    const steps = new Map([[source, 0]]);
    for (const [file, step] of steps)
      if (step < maxSteps) for (const next of importers.get(file) ?? []) if (!steps.has(next)) steps.set(next, step + 1);
    const beside = source.replace(/\.ts$/, '.test.ts');
    const detourOf = (file) => (isWhole.test(file) ? maxSteps : file.includes('/test/') ? 1 : 0);
    const rankOf = (file) => (file === beside ? 0 : steps.get(file) + detourOf(file));
    const isNear = (file) => file.endsWith('.test.ts') && (steps.get(file) <= 2 || !isWhole.test(file)) && !isSlow.test(texts.get(file));
    const near = [...steps.keys()].filter(isNear);
    const alike = (file) => (dirname(file) === dirname(source) ? sharedStart(basename(file), basename(source)) : 0);
    const order = (one, other) =>
      rankOf(one) - rankOf(other) || alike(other) - alike(one) || texts.get(one).length - texts.get(other).length;
    return near.sort(order).slice(0, mostTests);
  };
}

/** So many characters are the same at the beginning of both. */
function sharedStart(one, other) {
  const end = [...one].findIndex((character, index) => character !== other[index]);
  return end === -1 ? one.length : end;
}

/** Types alone run nothing. */
function importsOf(file, text) {
  const pattern = /^(?:import|export)(?! type\b)[^;]*?from '([^']+)'|\b(?:import|new URL)\('([^']+)'/gm;
  const specifiers = [...text.matchAll(pattern)].map(([, one, other]) => one ?? other);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.')) return join(dirname(file), specifier).replace(/\.js$/, '.ts');
    const [, name, path] = /^@notebridge\/([\w-]+)\/(.*)$/.exec(specifier) ?? [];
    return privatePackages.includes(name) ? `packages/${name}/src/${path}.ts` : [];
  });
}

// Makes a fresh clone ready: Node new enough, packages installed, program built, a browser for the tests.
// Does nothing that is already done, so every command can begin with it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { chromiumAdvice, findChromium } from './chromium.mjs';
import { browserPackages, canInstall, installPackages, missingPackages } from './debian-packages.mjs';
import { natsServer, whyNoNatsServer } from './nats-server.mjs';
import { makeEnvironment } from './python-env.mjs';
import { environments } from './python-environments.mjs';
import { packageFolders, readJson, root, run, runMain, StepFailed, secondsSince } from './run.mjs';

const oldestNode = [20, 19];
const buildStamp = join(root, '.cache/built');

/**
 * Answers with the path of a Chromium, if one was asked for. What does not wait for another step is done beside it. Throws `StepFailed` when
 * a step fails.
 * @param {{ needs?: ReadonlySet<string> }} [options] What the program alone does not need: `chromium`, `nats`, a package of the system, or
 * `python:` with the name of an environment.
 */
export async function setup({ needs = new Set() } = {}) {
  assertNode();
  // Said at once, and not after minutes of what would be in vain.
  if (needs.has('chromium') && !skipsBrowser() && !canInstall() && !(await findChromium())) throw new StepFailed(chromiumAdvice);
  const steps = [systemNeeds(needs), program(), needs.has('nats') ? nats() : undefined, pythons(needs)];
  // Whoever fails waits for the others: nothing is said, or left half done, behind its message.
  await Promise.allSettled(steps);
  const [chromium] = await Promise.all(steps);
  return needs.has('chromium') ? { chromium } : {};
}

async function program() {
  await step('packages', installReason(), 'npm ci', install);
  await step('program', buildReason(), 'npm run build', build);
}

/** One after the other: apt-get does one thing at a time. */
async function systemNeeds(needs) {
  await systemPackages(needs);
  return needs.has('chromium') ? browser() : undefined;
}

/** The tests that need one print why they are skipped where it is missing: so this never fails. */
async function systemPackages(needs) {
  const missing = missingPackages().filter(({ name }) => needs.has(name));
  if (missing.length === 0) return;
  const advice = missing.map((each) => each.advice).join(' ');
  if (!canInstall()) return say(`system packages: ${advice}\n`);
  const names = missing.map(({ name }) => name);
  const command = `apt-get install ${names.join(' ')}`;
  say(`system packages: ${command}\n`);
  const { code } = await installPackages(names);
  say(`${command}: ${code === 0 ? 'done' : `failed; the tests that need them are skipped. ${advice}`}\n`);
}

/** Before the tests, since several of them would wait for one. They say why they fail where it cannot be made. */
async function pythons(needs) {
  for (const name of Object.keys(environments).filter((name) => needs.has(`python:${name}`))) {
    await makeEnvironment(name).catch((error) => say(`python: ${String(error.message).split('\n')[0]}\n`));
  }
}

/** Here, once: test files that run side by side would each fetch or build it. The tests of clusters print why they are skipped without one. */
async function nats() {
  try {
    const path = await natsServer();
    if (path) return say(`nats-server: ${path}\n`);
  } catch (error) {
    throw new StepFailed(`nats-server could not be built: ${error instanceof Error ? error.message : error}`);
  }
  // Nobody asks the registry again.
  process.env.NOTEBRIDGE_NATS = 'none';
  say(`nats-server: none, and the tests of clusters are skipped: ${whyNoNatsServer} (https://go.dev/dl)\n`);
}

async function browser() {
  if (skipsBrowser()) {
    say('browser: none, and the browser tests are skipped, because NOTEBRIDGE_SKIP_BROWSER=1\n');
    return undefined;
  }
  let path = await findChromium();
  if (!path && canInstall()) {
    await step('browser', 'no Chromium or Chrome found', `apt-get install ${browserPackages.join(' ')}`, () =>
      installPackages(browserPackages, { timeoutMs: 15 * 60_000 }),
    );
    path = await findChromium();
  }
  if (!path) throw new StepFailed(chromiumAdvice);
  say(`browser: ${path}\n`);
  return path;
}

function skipsBrowser() {
  return process.env.NOTEBRIDGE_SKIP_BROWSER === '1';
}

export function assertNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new StepFailed(
    `Notebridge needs Node ${oldestNode.join('.')} or newer, and this is Node ${process.versions.node}.\nInstall a newer one (https://nodejs.org), then run the command again.`,
  );
}

/** Why the packages have to be installed, or undefined. npm's own record says what stands in node_modules, whoever installed it. */
export function installReason() {
  const record = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return 'not installed yet';
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const present = readJson(record).packages;
  const differs = Object.keys(wanted).some((name) => {
    if (name === '' || (wanted[name].optional && !present[name])) return false;
    return !present[name] || present[name].version !== wanted[name].version;
  });
  return differs ? 'package-lock.json changed' : undefined;
}

export function install() {
  // With NODE_ENV=production, npm would leave out the tools that build and test.
  return run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { timeoutMs: 15 * 60_000 });
}

/** Why the program has to be built, or undefined. By content, not by time: a checkout of another branch changes times at will. */
export function buildReason() {
  if (builtFolders().some((folder) => !existsSync(join(root, folder, 'dist')))) return 'not built yet';
  if (!existsSync(buildStamp) || readFileSync(buildStamp, 'utf8') !== sourceHash()) return 'sources changed';
  return undefined;
}

/** `show` passes on what it prints. */
export async function build({ show = false } = {}) {
  const hash = sourceHash();
  // Otherwise the output of a source file that is gone would stay, and be published.
  for (const folder of builtFolders()) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  const result = await run('npm', ['run', 'build', '--workspaces', '--if-present'], { show });
  if (result.code === 0) {
    mkdirSync(dirname(buildStamp), { recursive: true });
    writeFileSync(buildStamp, hash);
  }
  return result;
}

function builtFolders() {
  return packageFolders().filter((folder) => readJson(join(root, folder, 'package.json')).scripts?.build);
}

function sourceHash() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.base.json')));
  for (const file of builtFolders().flatMap(sourceFiles)) {
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function sourceFiles(folder) {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
  return files.filter((file) => !/\/(dist|node_modules|test)\/|\.test\.ts$/.test(file)).sort();
}

async function step(what, reason, command, work) {
  if (!reason) return say(`${what}: up to date\n`);
  const startMs = performance.now();
  say(`${what}: ${reason}; ${command}\n`);
  const { code, output } = await work();
  say(`${command}: ${code === 0 ? 'done' : 'failed'} (${secondsSince(startMs)})\n`);
  if (code === 0) return;
  process.stdout.write(output);
  throw new StepFailed(`Setup stopped: "${command}" failed with exit code ${code}; what it said stands above.`);
}

function say(text) {
  process.stdout.write(`setup: ${text}`);
}

await runMain(import.meta.url, async (args) => {
  await setup({ needs: new Set(args.includes('--chromium') ? ['chromium', 'nats', 'bubblewrap', 'libfaketime'] : []) });
});

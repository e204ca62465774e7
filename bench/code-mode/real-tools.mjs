// The tools of public servers, as they list them here: installed once, without install scripts, into a folder that is never committed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from '../lib/agent.mjs';
import { home, startNode, stopChild, within } from '../lib/children.mjs';

const specs = JSON.parse(readFileSync(new URL('servers.json', import.meta.url), 'utf8'));
const folder = fileURLToPath(new URL('../.peers/code-mode-servers/', import.meta.url));

/** `package version` of each, for the report. */
export const versions = Object.values(specs).map(({ package: name, version }) => `${name} ${version}`);

/** Tools by server, in the order of servers.json. A server that does not list its tools ends the run: the questions ask for them. */
export async function listRealTools() {
  installOnce(
    folder,
    Object.values(specs).map(({ package: name, version }) => `${name}@${version}`),
  );
  const tools = {};
  for (const [name, spec] of Object.entries(specs)) tools[name] = await listTools(name, spec);
  return tools;
}

/** Packages of npm, once, without install scripts, into a folder of their own. */
export function installOnce(into, wanted, more = []) {
  const stamp = join(into, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted.join('\n')) return;
  process.stderr.write(`bench: installing ${wanted.length} packages from npm\n`);
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, 'package.json'), '{ "private": true }\n');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact', ...more];
  const { status, stderr } = spawnSync('npm', ['install', ...options, ...wanted], {
    cwd: into,
    encoding: 'utf8',
    timeout: 300_000,
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm install ended with ${status}: ${stderr.slice(0, 500)}`);
  writeFileSync(stamp, wanted.join('\n'));
}

/** No key is real, and none is needed to list tools. `HOME` stands for a folder of the bench's own. */
async function listTools(name, { package: packageName, program, args = [], env = {} }) {
  const filled = (text) => (text === 'HOME' ? home : text);
  const file = join(folder, 'node_modules', packageName, program);
  const more = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)]));
  const child = startNode([file, ...args.map(filled)], { env: more });
  try {
    const agent = new Agent(child);
    return await within(60_000, `the tools of ${name}`, allTools(agent));
  } finally {
    await stopChild(child);
  }
}

async function allTools(agent) {
  await agent.initialize();
  const tools = [];
  let cursor;
  do {
    const { result, error } = await agent.request('tools/list', cursor === undefined ? {} : { cursor });
    if (result === undefined) throw new Error(`tools/list failed: ${JSON.stringify(error)}`);
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

// What a model reads and writes for the ten tasks, by direct calls and in code mode. Scripted agents do them; no model is called.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from '../lib/agent.mjs';
import { endChild, home, startNode } from '../lib/children.mjs';
import { tokensOf } from './list-tokens.mjs';
import { playDirect, playInCodeMode } from './scripted-agents.mjs';
import { writeTaskFolder } from './tasks/task-folder.mjs';
import { tasks } from './tasks.mjs';

const program = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));
const require = createRequire(import.meta.url);

/** Each task both ways, its answers compared, with what it took: `{ list, played: [{ task, turns }] }` for each way. */
export async function playTasks() {
  const direct = await play([], playDirect);
  const byCode = await play(['--code-mode'], playInCodeMode);
  for (const [at, { answer, task }] of direct.played.entries()) {
    const other = JSON.stringify(byCode.played[at].answer);
    if (JSON.stringify(answer) !== other)
      throw new Error(`"${task.name}" is answered ${JSON.stringify(answer)} directly, and ${other} by code.`);
  }
  return { direct, byCode };
}

async function play(options, playTask) {
  const folder = mkdtempSync(join(home, 'tasks-'));
  writeTaskFolder(folder);
  const config = join(folder, 'mcp.json');
  const data = join(folder, 'data');
  writeFileSync(config, JSON.stringify({ mcpServers: serversFor(folder) }));
  const child = startNode([program, 'stdio', '--notebook', 'none', ...options, '--config', config]);
  try {
    const agent = new Agent(child);
    const { instructions = '' } = await agent.initialize();
    const { result } = await agent.request('tools/list', {});
    const callTool = async (name, args) => (await agent.request('tools/call', { name, arguments: args })).result;
    const played = [];
    for (const task of tasks) played.push({ task, ...(await playTask(task, { callTool, folder: data })) });
    // A folder of a random name would count otherwise each time.
    for (const { turns } of played) renameFolder(turns, data);
    return { list: tokensOf(result.tools.map(shownTool)) + tokensOf(instructions), toolCount: result.tools.length, played };
  } finally {
    await endChild(child);
  }
}

function renameFolder(turns, folder) {
  const renamed = (value) => JSON.parse(JSON.stringify(value).replaceAll(folder, '/home/you/data'));
  for (const turn of turns) for (const call of turn) Object.assign(call, { args: renamed(call.args), result: renamed(call.result) });
}

/** The three servers of the tasks. */
export function serversFor(folder) {
  mkdirSync(folder, { recursive: true });
  const server = (name, ...args) => {
    const entry = join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js');
    return { command: process.execPath, args: [entry, ...args] };
  };
  return {
    everything: server('everything'),
    filesystem: server('filesystem', join(folder, 'data')),
    memory: { ...server('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  };
}

/** Only what hosts hand to models. */
const shownTool = ({ name, description, inputSchema }) => ({ name, description, inputSchema });

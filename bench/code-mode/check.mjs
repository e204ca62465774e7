// What a type check costs: the code of the ten tasks with a call behind it that no tool takes, so that all that is timed is the check, and the way to it.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from '../lib/agent.mjs';
import { endChild, home, startNode } from '../lib/children.mjs';
import { cpuUsOf, memoryMbOf } from '../lib/proc.mjs';
import { quantile } from '../lib/stats.mjs';
import { section } from '../report.mjs';
import { serversFor } from './play-tasks.mjs';
import { writeTaskFolder } from './tasks/task-folder.mjs';
import { tasks } from './tasks.mjs';

const program = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));
const wrong = '\nimport generated.mcp.memory\nawait generated.mcp.memory.read_graph(nothing=1)';

/** The part of results.md about type checks. */
export async function checkTable({ rounds }) {
  const load = loadavg()[0].toFixed(1);
  const { checks, simple, cpuMs, memoryMb } = await measureChecks(rounds);
  const row = (name, numbers) => [name, `${quantile(numbers, 0.5).toFixed(0)} ms`, `${quantile(numbers, 0.95).toFixed(0)} ms`];
  const isKept = quantile(checks, 0.5) <= 300;
  const rows = [
    [...row('the code of the ten tasks, checked', checks), '≤ 300 ms', isKept ? 'kept' : '**missed**'],
    ['CPU time of program and checker for one of them', cpuMs === undefined ? '' : `${cpuMs.toFixed(0)} ms`, '', '', ''],
    [...row('`1+1`, which imports no tool and is not checked', simple), '', ''],
  ];
  const text = `${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · Node ${process.version} · load at the start ${load} · \`npm run bench -- code-mode --only check\`

An agent over stdio, ${rounds} rounds with a warm pyright. Behind the code of each task stands a call with an argument that the tool does not have, so that it is refused: the time is that
of the check, the look at that call, and the answer. With servers, a Python and the checker the program takes ${memoryMb?.toFixed(0) ?? '?'} MB (PSS).`;
  return `# Bench: type checks\n\n${section('What a type check costs', text, [['', 'median', '95th percentile', 'aim', ''], ...rows])}\n`;
}

async function measureChecks(rounds) {
  const folder = mkdtempSync(join(home, 'checks-'));
  writeTaskFolder(folder);
  const config = join(folder, 'mcp.json');
  const notebridge = { codeMode: { typeCheck: 'require', typeCheckMs: 60_000 } };
  writeFileSync(config, JSON.stringify({ mcpServers: serversFor(folder), notebridge }));
  const child = startNode([program, 'stdio', '--notebook', 'none', '--code-mode', '--standalone', '--config', config]);
  try {
    const agent = new Agent(child);
    await agent.initialize();
    await agent.request('tools/list', {});
    const time = async (code, status) => {
      const start = performance.now();
      const { result } = await agent.request('tools/call', { name: 'execute_code', arguments: { code } });
      const ms = performance.now() - start;
      if (result.structuredContent?.status !== status) throw new Error(`A wrong answer: ${JSON.stringify(result)}`);
      return ms;
    };
    const all = async () => {
      const times = [];
      for (const task of tasks) times.push(await time(`${task.code(join(folder, 'data'))}${wrong}`, 'error'));
      return times;
    };
    await time('1+1', 'ok');
    await all();
    const [checks, simple] = [[], []];
    const cpuUs = cpuUsOf(child.pid);
    for (let round = 0; round < rounds; round++) checks.push(...(await all()));
    const cpuMs = cpuUs === undefined ? undefined : (cpuUsOf(child.pid) - cpuUs) / 1000 / checks.length;
    for (let round = 0; round < 10 * rounds; round++) simple.push(await time('1+1', 'ok'));
    return { checks, simple, cpuMs, memoryMb: memoryMbOf(child.pid)?.pssMb };
  } finally {
    await endChild(child);
  }
}

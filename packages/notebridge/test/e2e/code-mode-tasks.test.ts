// @module-tag deep
// @module-tag P-387

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CallTool, playDirect, playInCodeMode } from '../../../../bench/code-mode/scripted-agents.mjs';
import { writeTaskFolder } from '../../../../bench/code-mode/tasks/task-folder.mjs';
import { tasks } from '../../../../bench/code-mode/tasks.mjs';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { type Agent, agentKinds } from '../support/agents.js';
import { codeDoors, toHttpCodeAgent } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { installedServer, ServedHub, type ServersForTest } from '../support/served-hub.js';

const timeout = 240_000;
const inNotebook = { notebook: 'selected' };

/** What the tasks work on, with the servers that do: of one agent alone. */
class Workplace implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  readonly data = join(this.folder, 'data');
  readonly servers: ServersForTest = {
    everything: installedServer('everything'),
    filesystem: installedServer('filesystem', [this.data]),
    memory: installedServer('memory', [], { env: { MEMORY_FILE_PATH: join(this.folder, 'memory.jsonl') } }),
  };

  constructor() {
    writeTaskFolder(this.folder);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type Answers = Record<string, unknown>;

/** `where`: more arguments of `execute_code`. */
async function answersByCode(callTool: CallTool, { data: folder }: Workplace, where: JsonObject = {}): Promise<Answers> {
  const answers: Answers = {};
  let handle = {};
  for (const task of tasks) {
    const { answer, session } = await playInCodeMode(task, { callTool, folder, where: { ...where, ...handle } });
    answers[task.name] = answer;
    // Without a session of its own an agent would begin a Python with each task.
    if (session !== undefined) handle = { session };
  }
  return answers;
}

async function answersDirectly(callTool: CallTool, { data: folder }: Workplace): Promise<Answers> {
  const answers: Answers = {};
  for (const task of tasks) answers[task.name] = (await playDirect(task, { callTool, folder })).answer;
  return answers;
}

let direct: Answers;
beforeAll(async () => {
  using work = new Workplace();
  await using hub = await ServedHub.start({ servers: work.servers, args: ['--notebook', 'none'] });
  const { callTool } = toHttpCodeAgent(openModernAgent(hub, () => hub.ownerToken));
  direct = await answersDirectly(callTool, work);
}, timeout);

it('ten tasks have ten answers by direct calls, over HTTP and stdio alike', { timeout }, async () => {
  expect(Object.keys(direct)).toHaveLength(10);
  expect(direct).toMatchObject({ 'size of a picture': ['image/png', 4033], 'team as a graph': ['ana', 3], 'sum, step by step': 220 });
  using work = new Workplace();
  writeFileSync(join(work.folder, 'mcp.json'), JSON.stringify({ mcpServers: work.servers }));
  await using agent = await openStdio(['--config', join(work.folder, 'mcp.json')]);
  expect(await answersDirectly(agent.callTool, work)).toEqual(direct);
});

for (const { cells, tags } of coreAndDeep(codeDoors, ({ name }) => name === 'stdio, legacy' || name === 'HTTP, modern')) {
  it.each(cells)('their answers by code in Pyodide, over $name, are those of direct calls', { timeout, tags }, async ({ open }) => {
    using work = new Workplace();
    await using agent = await open(work);
    expect(await answersByCode(agent.callTool, work)).toEqual(direct);
  });
}

// One era of each transport: no notebook knows of them.
it.each(codeDoors.filter(({ name }) => name.endsWith('modern')))(
  'their answers by code in an own Python, as cells of the notebook, over $name, are those of direct calls',
  { timeout, tags: ['deep'] },
  async ({ open }) => {
    using work = new Workplace();
    const python = await pythonWith(['ipykernel', 'jupyter_client']);
    const args = ['--notebook', join(work.folder, 'work.ipynb'), '--kernel', python];
    await using agent = await open({ ...work, args });
    expect(await answersByCode(agent.callTool, work, inNotebook)).toEqual(direct);
    const { content } = await agent.callTool('get_cells', {});
    const [{ text }] = content as [{ text: string }];
    expect(JSON.parse(text).cells.map((cell: JsonObject) => cell.cell_type)).toEqual(tasks.map(() => 'code'));
  },
);

describe('in a kernel of JupyterLab that has the package of a hub', { tags: ['deep'] }, () => {
  let work: Workplace;
  let lab: TestLab;
  let hub: ServedHub;
  let notebook: string[];
  beforeAll(async () => {
    work = new Workplace();
    const [shared, state] = [join(work.folder, 'shared'), join(work.folder, 'state')];
    lab = await TestLab.start({ env: { PYTHONPATH: shared, XDG_STATE_HOME: state } });
    await lab.write('work.ipynb', []);
    notebook = ['--notebook', `jupyter=${lab.url('work.ipynb')}`];
    const args = ['--code-mode', '--shared-dir', shared, ...notebook];
    hub = await ServedHub.start({ servers: work.servers, env: { XDG_STATE_HOME: state }, args });
    await vi.waitUntil(() => existsSync(join(shared, 'generated/mcp/memory')), { timeout });
  }, installTimeoutMs);
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    await lab?.close();
    work[Symbol.dispose]();
  });

  it('the answers by code, over HTTP, are those of direct calls', { timeout }, async () => {
    writeTaskFolder(work.folder);
    const { callTool } = toHttpCodeAgent(await openLegacyAgent(hub, () => hub.ownerToken));
    expect(await answersByCode(callTool, work, inNotebook)).toEqual(direct);
  });

  it('the answers by code, over stdio beside that hub, are those of direct calls', { timeout }, async () => {
    writeTaskFolder(work.folder);
    await using agent = await openStdio(['--code-mode', '--config', hub.configFile, ...notebook]);
    expect(await answersByCode(agent.callTool, work, inNotebook)).toEqual(direct);
  });

  it('a kernel without that package says what to do', { timeout, tags: ['P-440'] }, async () => {
    const { callTool } = toHttpCodeAgent(await openLegacyAgent(hub, () => hub.ownerToken));
    const code = `import sys
sys.path[:] = [path for path in sys.path if not path.endswith("shared")]
for name in [name for name in sys.modules if name.split(".")[0] == "generated"]: del sys.modules[name]
from generated.mcp.everything import echo`;
    const { content } = await callTool('execute_code', { code, ...inNotebook });
    expect(content).toMatchObject([
      { text: expect.stringContaining('ModuleNotFoundError') },
      { text: expect.stringMatching(/Leave "notebook" out/) },
    ]);
  });
});

async function openStdio(args: string[]): Promise<Agent> {
  const agent = await agentKinds[0]?.open(['stdio', ...args]);
  if (agent === undefined) throw new Error('There is no agent.');
  return agent;
}

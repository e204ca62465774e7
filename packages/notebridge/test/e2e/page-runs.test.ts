import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { SharedHome } from '../support/broker.js';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { addCell, type CallTool, notebookOf, playRunStory } from '../support/run-story.js';

const toolsChanged = 'notifications/tools/list_changed';
const runNames = ['get_run', 'interrupt_run', 'list_runs'];
const endless = 'import time\nprint("on")\nfor i in range(100000):\n    time.sleep(0.01)';

async function namesOf(program: Program): Promise<string[]> {
  const { result } = await program.request('tools/list');
  return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

describe('a run of the Colab page', () => {
  let program: Program;
  let page: ReturnType<typeof createNodeColabPage>;
  let call: CallTool;

  beforeEach(async () => {
    program = await Program.open();
    page = createNodeColabPage(await program.address());
    await program.notification(toolsChanged);
    call = notebookOf(program);
  });
  afterEach(async () => {
    page.close();
    await program.close();
  });

  it('outlives its call: output piece by piece, its end, and interrupt_run', { timeout: 60_000, tags: ['P-303', 'P-304'] }, () =>
    playRunStory(call),
  );

  it('a run that waits for its turn has no output of its cell’s run before', { tags: ['deep', 'P-303'] }, async () => {
    const [first, second] = [await addCell(call, endless), await addCell(call, 'print("old")')];
    await call('run_code_cell', { cellId: second });
    const running = await call('run_code_cell', { cellId: first, wait_seconds: 0 });
    const waiting = await call('run_code_cell', { cellId: second, wait_seconds: 0 });
    expect([running.status, waiting]).toMatchObject(['running', { status: 'queued', outputs: [] }]);
    await call('interrupt_run', { run_id: running.run_id });
    expect(await call('get_run', { run_id: waiting.run_id })).toMatchObject({ status: 'ok', outputs: [{ text: ['old\n'] }] });
  });

  it('goes on when its caller has cancelled only the look at it, and ends when the caller cancels the run', {
    tags: ['deep'],
  }, async () => {
    const cellId = await addCell(call, endless);
    const { run_id } = await call('run_code_cell', { cellId, wait_seconds: 0 });
    program.write(`{"jsonrpc":"2.0","id":"look","method":"tools/call","params":{"name":"get_run","arguments":{"run_id":"${run_id}"}}}`);
    program.notify('notifications/cancelled', { requestId: 'look' });
    expect(await call('get_run', { run_id, wait_seconds: 0 })).toMatchObject({ status: 'running' });
    await call('interrupt_run', { run_id });
    program.write(
      `{"jsonrpc":"2.0","id":"run","method":"tools/call","params":{"name":"run_code_cell","arguments":{"cellId":"${cellId}"}}}`,
    );
    const { runs } = (await call('list_runs')) as { runs: JsonObject[] };
    expect(runs[0]).toMatchObject({ status: 'running' });
    program.notify('notifications/cancelled', { requestId: 'run' });
    expect(await call('get_run', { run_id: runs[0]?.run_id })).toMatchObject({ status: 'interrupted' });
  });

  it('a run in the middle of which the page reloads is answered at once, as one whose outcome is unknown; the next call works', {
    tags: ['P-040'],
  }, async () => {
    const cellId = await addCell(call, endless);
    const { run_id } = await call('run_code_cell', { cellId, wait_seconds: 0 });
    await call('get_run', { run_id, wait_for: 'output' });
    const following = call('get_run', { run_id, wait_seconds: 600 });
    const waiting = program.callTool('run_code_cell', { cellId });
    // Both are there before the page goes.
    await call('list_runs');
    page.reload();
    const look = expect.stringContaining(`Look at cell ${cellId}`);
    expect(await following).toMatchObject({ status: 'unknown', next: look, outputs: [{ text: ['on\n'] }] });
    expect(JSON.stringify(await waiting)).toMatch(/outcome is unknown and it was not repeated/);
    expect(await call('run_code_cell', { cellId: await addCell(call, 'print("again")') })).toMatchObject({
      outputs: [{ text: ['again\n'] }],
    });
  });
});

it('a run whose process was killed is known to the next one, with what its cell shows', { timeout: 60_000, tags: ['P-310'] }, async () => {
  await using home = new SharedHome();
  const first = await Program.open({ env: home.env });
  const page = createNodeColabPage(await first.address());
  await first.notification(toolsChanged);
  const cellId = await addCell(notebookOf(first), endless);
  const { run_id } = await notebookOf(first)('run_code_cell', { cellId, wait_seconds: 0 });
  await notebookOf(first)('get_run', { run_id, wait_for: 'output' });
  first.child.kill('SIGKILL');
  await first.close();
  await using second = await Program.open({ env: home.env });
  const call = notebookOf(second);
  const { token, port } = await second.address();
  await page.connectManually(`${token}&${port}`);
  await second.notification(toolsChanged);
  expect(await call('get_run', { run_id })).toMatchObject({
    ...{ run_id, cellId, status: 'unknown', outputs: [{ text: ['on\n'] }] },
    ...{ message: expect.stringContaining('may still run'), next: expect.stringContaining(`Look at cell ${cellId}`) },
  });
  expect(await call('get_run', { run_id: 'abcdef-1' })).toMatchObject({ error: { code: 'unknown_run' } });
  page.close();
});

describe('what a page offers itself', () => {
  it('--list dynamic has none of it: the list and the calls are the page’s own', { tags: ['P-306'] }, async () => {
    await using program = await Program.open({ args: ['--list', 'dynamic'] });
    const page = createNodeColabPage(await program.address());
    await program.notification(toolsChanged);
    const names = await namesOf(program);
    expect(names).toContain('run_code_cell');
    expect(names.filter((name) => runNames.includes(name))).toEqual([]);
    const call = notebookOf(program);
    const answer = await program.callTool('run_code_cell', { cellId: await addCell(call, '1'), wait_seconds: 0 });
    expect(JSON.stringify(answer)).toContain("Unrecognized key(s) in object: 'wait_seconds'");
    page.close();
  });

  it('tools about runs of its own are left alone, and a page that runs nothing gets none', { tags: ['deep', 'P-306'] }, async () => {
    const tool = (name: string): JsonObject => ({ name, inputSchema: { type: 'object' } });
    for (const own of [['run_code_cell', 'get_run'], ['get_cells']]) {
      await using program = await Program.open();
      const answer = ({ method, params }: JsonObject) => {
        if (method === 'tools/list') return { result: { tools: own.map(tool) } };
        return method === 'tools/call' ? { result: { content: [{ type: 'text', text: JSON.stringify(params) }] } } : undefined;
      };
      await using _page = await RawPage.serve({ ...(await program.address()), answer });
      await program.notification(toolsChanged);
      expect((await namesOf(program)).filter((name) => runNames.includes(name))).toEqual(own.filter((name) => name === 'get_run'));
      const called = await notebookOf(program)(own[0] ?? '', { cellId: 'a', wait_seconds: 0 });
      expect(called).toMatchObject({ arguments: { cellId: 'a', wait_seconds: 0 } });
    }
  });

  it('a page that does not stop when it is asked to says so, with the next step', { tags: ['deep', 'P-306'] }, async () => {
    await using program = await Program.open();
    const cell = { cell_type: 'code', id: 'a', source: ['x'], outputs: [] };
    const answer = ({ method, params }: JsonObject) => {
      if (method === 'tools/list')
        return { result: { tools: ['run_code_cell', 'get_cells'].map((name) => ({ name, inputSchema: { type: 'object' } })) } };
      if (method !== 'tools/call') return undefined;
      if ((params as JsonObject).name === 'run_code_cell') return new Promise<never>(() => {});
      return { result: { content: [{ type: 'text', text: JSON.stringify({ cells: [cell] }) }] } };
    };
    await using _page = await RawPage.serve({ ...(await program.address()), answer });
    await program.notification(toolsChanged);
    const call = notebookOf(program);
    const { run_id } = await call('run_code_cell', { cellId: 'a', wait_seconds: 0 });
    expect(await call('interrupt_run', { run_id })).toMatchObject({
      status: 'unknown',
      message: expect.stringMatching(/ask the person to press the stop button/),
      next: expect.stringContaining('Look at cell a'),
    });
  });
});

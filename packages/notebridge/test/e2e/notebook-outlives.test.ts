import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type BrokerFile, brokersIn, isAlive, livingProcesses, SharedHome, until } from '../support/broker.js';
import { Program, runProgram } from '../support/program.js';

/** Python starts three times at most, each time in seconds, and on a busy machine in many. */
const slow = 180_000;

// Who is below whom, and which brokers there are, Linux alone tells.
describe.runIf(process.platform === 'linux')('a notebook outlives its agent', () => {
  it('goes on when the agent is killed, and the next one has its variables', { timeout: slow, tags: ['P-225'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    const first = await Program.open({ args, env: home.env });
    expect(outputOf(await first.callTool('run_code', { code: 'x = 41\nprint("kept")' }))).toBe('kept\n');
    const { pid } = home.broker as BrokerFile;
    first.child.kill('SIGKILL');
    await first.close();
    await using second = await Program.open({ args, env: home.env });
    expect(outputOf(await second.callTool('run_code', { code: 'print(x + 1)' }))).toBe('42\n');
    expect(home.broker?.pid).toBe(pid);
    expect(cellsOf(await second.callTool('get_cells'))).toHaveLength(2);
  });

  it('runs on when the agent is killed in the middle of a call, and the next one picks the run up', {
    timeout: slow,
    tags: ['deep', 'P-270'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    const first = await Program.open({ args, env: home.env });
    const short = answerOf(await first.callTool('run_code', { code: 'import time; time.sleep(3); 7', wait_seconds: 1 }));
    expect(short).toMatchObject({ status: 'running', newCellId: expect.any(String), run_id: expect.any(String) });
    expect(answerOf(await first.callTool('get_run', { run_id: short.run_id }))).toMatchObject({ status: 'ok', execution_count: 1 });
    const lost = first.callTool('run_code', { code: `import time\nprint("begun")\ntime.sleep(4)\nprint("done")` }, { progressToken: 1 });
    lost.catch(() => {});
    await first.until(() => first.countOf('notifications/progress') > 0, 60_000);
    first.child.kill('SIGKILL');
    await first.close();
    await using second = await Program.open({ args, env: home.env });
    const { runs } = answerOf(await second.callTool('list_runs')) as { runs: { run_id: string; status: string }[] };
    expect(runs[0]).toMatchObject({ status: expect.stringMatching(/running|ok/) });
    const ended = answerOf(await second.callTool('get_run', { run_id: runs[0]?.run_id, wait_seconds: 60 }));
    expect(ended).toMatchObject({ status: 'ok', outputs: [{ text: ['begun\n', 'done\n'] }] });
    // One that is ended by an agent that did not start it.
    const endless = answerOf(await second.callTool('run_code', { code: 'while True: pass', wait_seconds: 0 }));
    expect(answerOf(await second.callTool('interrupt_run', { run_id: endless.run_id }))).toMatchObject({ status: 'interrupted' });
  });

  it('is opened again, with a new kernel, when its process is killed in the middle of a call', {
    timeout: slow,
    tags: ['deep', 'P-227'],
  }, async () => {
    await using home = new SharedHome();
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(outputOf(await program.callTool('run_code', { code: 'x = 41\nprint("saved")' }))).toBe('saved\n');
    await until(() => readFileSync(home.path('work.ipynb'), 'utf8').includes('saved'));
    const { pid } = home.broker as BrokerFile;
    const below = descendantsOf(pid);
    expect(below.length).toBeGreaterThan(0);
    const running = program.callTool('run_code', { code: 'print("on")\nwhile True: pass' }, { progressToken: 1 });
    await program.until(() => program.countOf('notifications/progress') > 0, 60_000);
    process.kill(pid, 'SIGKILL');
    expect(await running).toMatchObject({ error: { message: expect.stringMatching(/outcome is unknown/), data: { code: 'page_gone' } } });
    const answer = await program.callTool('run_code', { code: 'print("x" in globals())' });
    expect(outputOf(answer)).toBe('False\n');
    expect(textsOf(answer).at(-1)).toMatch(/opened again from its file, with a new kernel/);
    expect(JSON.stringify(cellsOf(await program.callTool('get_cells')))).toContain('saved');
    expect(home.broker?.pid).not.toBe(pid);
    await until(() => !below.some(isAlive));
    expect(textsOf(await program.callTool('get_cells'))).toHaveLength(1);
  });

  it('has one process for two agents that start at the same moment', { timeout: slow, tags: ['deep', 'P-226'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    const [first, second] = await Promise.all([1, 2].map(() => Program.open({ args, env: home.env })));
    if (first === undefined || second === undefined) throw new Error('They did not start.');
    const { result } = await first.callTool('add_text_cell', { cellIndex: 0, content: 'from the first' });
    expect(result).not.toHaveProperty('isError');
    expect(JSON.stringify(cellsOf(await second.callTool('get_cells')))).toContain('from the first');
    // The one that lost the race ends by itself.
    await until(() => brokersIn(home.stateHome).length === 1);
    expect(brokersIn(home.stateHome)).toEqual([home.broker?.pid]);
    await Promise.all([first.close(), second.close()]);
  });

  it('ends some time after the last agent, and leaves the file saved and free', { timeout: slow, tags: ['P-229'] }, async () => {
    await using home = new SharedHome(1);
    const program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await program.callTool('add_text_cell', { cellIndex: 0, content: 'written at the end' });
    const { pid } = home.broker as BrokerFile;
    await program.close();
    expect(readFileSync(home.path('work.ipynb'), 'utf8')).toContain('written at the end');
    await until(() => !isAlive(pid));
    expect(readdirSync(home.folder).sort()).toEqual(['state', 'work.ipynb']);
    expect(readdirSync(home.stateDir).filter((name) => /sock|json$|url|lock/.test(name))).toEqual(['notebook-ids.json']);
  });

  it('is another one for each agent without a file, which ends with its agent', { timeout: slow, tags: ['deep'] }, async () => {
    await using home = new SharedHome();
    const first = await Program.open({ args: ['--notebook', 'local'], env: home.env });
    await using second = await Program.open({ args: ['--notebook', 'local'], env: home.env });
    await first.callTool('add_text_cell', { cellIndex: 0, content: 'mine' });
    expect(cellsOf(await second.callTool('get_cells'))).toEqual([]);
    await first.close();
    expect(cellsOf(await second.callTool('get_cells'))).toEqual([]);
  });

  it('is not opened by a relative name where the agent host gives no folder, and that says what to do', { tags: ['deep'] }, async () => {
    for (const args of [
      ['--notebook', 'work.ipynb'],
      ['notebook', 'work.ipynb'],
    ]) {
      const program = new Program({ args, cwd: '/' });
      expect(await program.ended).toBe(2);
      expect(program.stderr).toMatch(/"work\.ipynb" cannot be used: it is relative, .*started this program in "\/".*setup HOST --notebook/);
      await program.close();
    }
  });

  it('a notebook of a hub is joined by an agent of stdio, and its window’s address stands in a private file', {
    timeout: slow,
    tags: ['deep', 'P-225'],
  }, async () => {
    await using home = new SharedHome();
    const file = home.path('work.ipynb');
    const hub = new Program({ args: ['serve', '--port', '0', '--notebook', file], env: home.env });
    await hub.until(() => hub.stderr.includes('"msg":"Serving."'), 60_000);
    const path = /"window_file":"([^"]+)"/.exec(hub.stderr)?.[1] ?? '';
    expect(readFileSync(path, 'utf8')).toMatch(/^http:\/\/localhost:\d+\/#token=/);
    expect(hub.stderr).not.toContain('#token=');
    await using agent = await Program.open({ args: ['--notebook', file], env: home.env });
    expect(cellsOf(await agent.callTool('get_cells'))).toEqual([]);
    expect(home.broker).toBeUndefined();
    const { ending, stdout } = await runProgram(['stop', file], { env: home.env });
    expect({ ending, stdout }).toEqual({ ending: 0, stdout: `Ended: nb1 ${file}\n` });
    expect(await hub.ended).toBe(0);
    await hub.close();
  });

  it('is ended by its id, and what it was doing is said', { timeout: slow, tags: ['deep', 'P-229'] }, async () => {
    await using home = new SharedHome();
    const open = (name: string) => Program.open({ args: ['--notebook', home.path(name)], env: home.env, name: 'The agent' });
    await using left = await open('left.ipynb');
    await left.callTool('run_code', { code: 'while True: pass', wait_seconds: 0 });
    await using right = await open('right.ipynb');
    await right.callTool('get_cells');
    const { stdout } = await runProgram(['ps'], { env: home.env });
    expect(stdout).toMatch(/nb2 .*pyodide \(not started\) +The agent +/);
    expect(answerOf(await right.callTool('get_notebook_info'))).toMatchObject({ kernel: { state: 'not started' } });
    const stop = (what: string) => runProgram(['stop', what], { env: home.env });
    expect(await stop('nb9')).toMatchObject({
      ending: 2,
      stderr: expect.stringContaining(`No notebook "nb9" of yours is open. Open: nb1 (${home.path('left.ipynb')}), nb2 (`),
    });
    expect(await stop('elsewhere/left.ipynb')).toMatchObject({
      ending: 2,
      stderr: expect.stringContaining('nb1 is another of that name.'),
    });
    expect(await stop('nb1')).toMatchObject({
      ending: 0,
      stdout: `Ended: nb1 ${home.path('left.ipynb')} (a run of "The agent" was interrupted)\n`,
    });
    expect(await stop('all')).toMatchObject({ ending: 0, stdout: `Ended: nb2 ${home.path('right.ipynb')}\n` });
  });

  it('a notebook that would be lost is not ended without --force', { timeout: slow, tags: ['deep', 'P-229'] }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'local'], env: home.env });
    await agent.callTool('add_text_cell', { cellIndex: 0, content: 'in no file' });
    const refused = await runProgram(['stop', 'all'], { env: home.env });
    expect(refused).toMatchObject({
      ending: 1,
      stderr: expect.stringMatching(/a notebook in memory: its one cell is in no file.*--force/),
    });
    expect(cellsOf(await agent.callTool('get_cells'))).toHaveLength(1);
    expect(await runProgram(['stop', 'all', '--force'], { env: home.env })).toMatchObject({ ending: 0 });
    const news = textsOf(await agent.callTool('get_cells')).at(-1);
    expect(news).toMatch(/in memory only, so this is a new, empty one/);
  });

  it('is not joined by an agent that insists on less than its code may reach', { timeout: slow, tags: ['P-272'] }, async () => {
    await using home = new SharedHome();
    // The home folder itself is given to nobody.
    mkdirSync(home.path('project'));
    const args = ['--notebook', home.path('project/work.ipynb')];
    await using first = await Program.open({ args: [...args, '--files', 'ro'], env: home.env });
    await first.callTool('get_cells');
    await using stricter = new Program({ args: [...args, '--files', 'none'], env: home.env });
    expect(await stricter.ended).toBe(2);
    expect(stricter.stderr).toMatch(/open already, and its code may reach more than "--files none" allows.*notebridge.* stop/);
    await using same = await Program.open({ args: [...args, '--files', 'ro', '--allow-net', 'pypi.org'], env: home.env });
    expect(cellsOf(await same.callTool('get_cells'))).toEqual([]);
  });

  it('goes on with its kernel when an agent joins that asked for another one, which is told so once', {
    timeout: slow,
    tags: ['deep', 'P-266'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env });
    await first.callTool('get_cells');
    await using second = await Program.open({ args: [...args, '--kernel', 'python3'], env: home.env });
    expect(JSON.stringify(await second.callTool('get_cells'))).toMatch(/open already, with [^"]*: --kernel python3 was not used/);
    expect(JSON.stringify(await second.callTool('get_cells'))).not.toContain('was not used');
  });

  it('a notebook with --standalone is held by the agent’s own process, and is nobody else’s', {
    timeout: slow,
    tags: ['deep'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using alone = await Program.open({ args: [...args, '--standalone'], env: home.env });
    await alone.callTool('get_cells');
    expect(home.broker).toBeUndefined();
    const other = new Program({ args, env: home.env });
    expect(await other.ended).toBe(2);
    expect(other.stderr).toMatch(new RegExp(`open in another Notebridge already: the process ${alone.child.pid}`));
    await other.close();
  });
});

function textsOf({ result }: JsonObject): string[] {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text);
}

function answerOf(answer: JsonObject): JsonObject {
  return JSON.parse(textsOf(answer)[0] ?? '') as JsonObject;
}

function cellsOf(answer: JsonObject): JsonObject[] {
  return (JSON.parse(textsOf(answer)[0] ?? '') as { cells: JsonObject[] }).cells;
}

/** What the cell printed. */
function outputOf(answer: JsonObject): string {
  const { outputs } = JSON.parse(textsOf(answer)[0] ?? '') as { outputs: { text?: string[] }[] };
  return outputs.flatMap(({ text = [] }) => text).join('');
}

function descendantsOf(pid: number): number[] {
  const all = livingProcesses();
  const found = [pid];
  for (const parent of found) found.push(...all.filter((entry) => entry.parent === parent).map((entry) => entry.pid));
  return found.slice(1);
}

// @module-tag P-269

import { afterEach, describe, expect, it } from 'vitest';
import { type OpenNotebook, openNotebook, whenBusy } from '../../test/support/open-notebook.js';

interface RunAnswer {
  run_id: string;
  cellId: string;
  status: string;
  cursor: string;
  outputs: { text?: string[]; ename?: string }[];
}

const opened: OpenNotebook[] = [];
afterEach(async () => {
  for (const { session } of opened.splice(0)) await session.close();
});

function open(...args: Parameters<typeof openNotebook>): OpenNotebook {
  const notebook = openNotebook(...args);
  opened.push(notebook);
  return notebook;
}

/** A run that its caller has left behind. */
async function begun(notebook: OpenNotebook, args: object = { cellId: 'c0', wait_seconds: 0 }): Promise<RunAnswer> {
  const busy = whenBusy(notebook.session.kernel);
  const answer = notebook.call('run_code_cell', args);
  await busy;
  return (await answer).value as RunAnswer;
}

describe('a run that outlives its call', () => {
  it('goes on, and is waited for by another call', async () => {
    const notebook = open(['print("one")\nwait()\nprint("two")']);
    const running = await begun(notebook);
    expect(running).toMatchObject({
      status: expect.stringMatching(/queued|running/),
      cellId: 'c0',
      next: expect.stringContaining('get_run'),
    });
    const seen = (await notebook.call('get_run', { run_id: running.run_id, wait_for: 'output' })).value as RunAnswer;
    expect(seen).toMatchObject({ status: 'running', outputs: [{ text: ['one\n'] }] });
    const waiting = notebook.call('get_run', { run_id: running.run_id, cursor: seen.cursor });
    notebook.kernel.release();
    const ended = (await waiting).value as RunAnswer;
    expect(ended).toMatchObject({ status: 'ok', execution_count: 1, outputs: [{ text: ['two\n'] }] });
    expect((await notebook.call('get_run', { run_id: running.run_id, cursor: ended.cursor })).value).toMatchObject({ outputs: [] });
    expect((await notebook.call('get_run', { run_id: running.run_id })).value).toMatchObject({ outputs: [{ text: ['one\n', 'two\n'] }] });
  });

  it('tells of run_code the id of the new cell too', async () => {
    const notebook = open();
    const { value } = await notebook.call('run_code', { code: 'forever()', wait_seconds: 0 });
    expect(value).toMatchObject({ newCellId: notebook.session.document.cells[0]?.id, run_id: expect.any(String), outputs: [] });
  });

  it('ends by interrupt_run, and one that waits never begins', async () => {
    const notebook = open(['forever()', 'print("never")']);
    const first = await begun(notebook);
    const { value } = await notebook.call('run_code_cell', { cellId: 'c1', wait_seconds: 0 });
    const second = value as RunAnswer;
    expect(second.status).toBe('queued');
    expect((await notebook.call('interrupt_run', { run_id: second.run_id })).value).toMatchObject({ status: 'cancelled' });
    expect((await notebook.call('interrupt_run', { run_id: first.run_id })).value).toMatchObject({ status: 'interrupted' });
    expect((await notebook.call('get_run', { run_id: first.run_id })).value).toMatchObject({ outputs: [{ ename: 'KeyboardInterrupt' }] });
    expect((await notebook.call('get_run', { run_id: second.run_id })).value).toMatchObject({
      outputs: [],
      outputs_left_out: expect.any(String),
    });
    const { runs } = (await notebook.call('list_runs')).value as { runs: RunAnswer[] };
    expect(runs.map(({ run_id, status }) => [run_id, status])).toEqual([
      [second.run_id, 'cancelled'],
      [first.run_id, 'interrupted'],
    ]);
  });

  it('goes on when its caller is gone, and is interrupted when the caller cancels it', { tags: ['P-270'] }, async () => {
    const notebook = open(['wait()\nprint("done")', 'forever()']);
    const leave = new AbortController();
    const busy = whenBusy(notebook.session.kernel);
    const call = notebook.call('run_code_cell', { cellId: 'c0' }, { gone: leave.signal });
    await busy;
    leave.abort();
    const { run_id } = (await call).value as RunAnswer;
    const finished = notebook.next('finished');
    notebook.kernel.release();
    await finished;
    expect((await notebook.call('get_run', { run_id })).value).toMatchObject({ status: 'ok', outputs: [{ text: ['done\n'] }] });
    const stop = new AbortController();
    const again = whenBusy(notebook.session.kernel);
    const cancelled = notebook.call('run_code_cell', { cellId: 'c1' }, { signal: stop.signal });
    await again;
    stop.abort();
    expect((await cancelled).value).toMatchObject({ outputs: [{ ename: 'KeyboardInterrupt' }] });
  });

  it('waits for more than the unfinished line that was read already', async () => {
    const notebook = open(['write("50%")\nwait()\nwrite(", 60%")\nwait()']);
    const { run_id } = await begun(notebook);
    const { cursor, outputs } = (await notebook.call('get_run', { run_id, wait_for: 'output' })).value as RunAnswer;
    expect(outputs).toMatchObject([{ text: ['50%'] }]);
    const more = notebook.call('get_run', { run_id, cursor, wait_for: 'output', wait_seconds: 3600 });
    const pause = notebook.call('get_run', { run_id, wait_seconds: 1 });
    expect(await Promise.race([more.then(() => 'more'), pause.then(() => 'nothing')])).toBe('nothing');
    notebook.kernel.release();
    expect((await more).value).toMatchObject({ status: 'running', outputs: [{ text: ['50%, 60%'] }] });
  });

  it('gives all of what was printed anew, when the code has cleared its output', async () => {
    const notebook = open(['print("one")\nwait()\nclear()\nprint("two")\nwait()']);
    const { run_id } = await begun(notebook);
    const before = (await notebook.call('get_run', { run_id, wait_for: 'output' })).value as RunAnswer;
    notebook.kernel.release();
    const after = (await notebook.call('get_run', { run_id, wait_for: 'output', cursor: before.cursor })).value as RunAnswer;
    expect([before.outputs, after.outputs]).toMatchObject([[{ text: ['one\n'] }], [{ text: ['two\n'] }]]);
  });

  it('keeps its outputs when its cell is run again or deleted', async () => {
    const notebook = open(['print("first")']);
    await notebook.call('run_code_cell', { cellId: 'c0' });
    notebook.session.document.update('c0', 'print("second")', { by: { kind: 'person', name: 'Ann' } });
    await notebook.call('run_code_cell', { cellId: 'c0' });
    const { runs } = (await notebook.call('list_runs')).value as { runs: RunAnswer[] };
    await notebook.call('delete_cell', { cellId: 'c0' });
    const textsOf = async ({ run_id }: RunAnswer) => ((await notebook.call('get_run', { run_id })).value as RunAnswer).outputs;
    expect(await Promise.all(runs.map(textsOf))).toMatchObject([[{ text: ['second\n'] }], [{ text: ['first\n'] }]]);
  });

  it('keeps what it had given when its cell is deleted while it runs', async () => {
    const notebook = open(['print("before")\nwait()']);
    const { run_id } = await begun(notebook);
    await notebook.call('delete_cell', { cellId: 'c0' });
    const wanted = { outputs: [{ text: ['before\n'] }] };
    expect((await notebook.call('get_run', { run_id, wait_seconds: 0 })).value).toMatchObject({ status: 'running', ...wanted });
    notebook.kernel.release();
    expect((await notebook.call('get_run', { run_id })).value).toMatchObject({ status: 'failed', ...wanted });
  });

  it('is refused by an id that is none, of another session, or too old; and by a cursor that is none', async () => {
    const notebook = open(['1']);
    const errorOf = async (name: string, args: object) =>
      ((await notebook.call(name, args)).value as { error: { code: string; message: string } }).error;
    expect(await errorOf('get_run', { run_id: 'x' })).toMatchObject({ code: 'unknown_run', message: expect.stringContaining('list_runs') });
    const { runs } = notebook.session;
    expect(await errorOf('get_run', { run_id: `${runs.mark}-7` })).toMatchObject({ code: 'unknown_run' });
    expect(await errorOf('interrupt_run', { run_id: 'zzzzz-1' })).toMatchObject({
      message: expect.stringContaining('what became of the run is unknown'),
    });
    for (let round = 0; round < 205; round++) await notebook.call('run_code_cell', { cellId: 'c0' });
    expect(await errorOf('get_run', { run_id: `${runs.mark}-1` })).toMatchObject({ code: 'unknown_run' });
    expect((await notebook.call('get_run', { run_id: `${runs.mark}-6` })).value).toMatchObject({
      status: 'ok',
      outputs_left_out: expect.any(String),
    });
    expect((await notebook.call('get_run', { run_id: `${runs.mark}-205` })).value).toMatchObject({ outputs: [{ execution_count: 205 }] });
    expect(await errorOf('get_run', { run_id: `${runs.mark}-205`, cursor: '1' })).toMatchObject({ code: 'bad_arguments' });
    expect(await errorOf('run_code_cell', { cellId: 'c0', wait_seconds: 4000 })).toMatchObject({
      message: expect.stringContaining('from 0 to 3600'),
    });
  });

  it('ends every wait when the notebook closes', async () => {
    const notebook = open(['forever()']);
    const { run_id } = await begun(notebook);
    const waiting = notebook.call('get_run', { run_id, wait_seconds: 3600 });
    await notebook.session.close();
    expect((await waiting).value).toMatchObject({ error: { code: expect.stringMatching(/unknown_run|closed/) } });
  });
});

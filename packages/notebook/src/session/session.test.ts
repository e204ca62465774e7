import { afterEach, describe, expect, it } from 'vitest';
import { TinyKernel } from '../../test/fixtures/tiny-kernel.js';
import { ann, bot, type OpenNotebook, openNotebook, whenBusy } from '../../test/support/open-notebook.js';
import type { SessionEvent } from './session.js';

const opened: OpenNotebook[] = [];
afterEach(async () => {
  for (const { session } of opened.splice(0)) await session.close();
});

function open(...args: Parameters<typeof openNotebook>): OpenNotebook {
  const notebook = openNotebook(...args);
  opened.push(notebook);
  return notebook;
}

function eventsOf({ session }: OpenNotebook): string[] {
  const events: string[] = [];
  session.onEvent((event) => events.push(describeEvent(event)));
  return events;
}

function describeEvent(event: SessionEvent): string {
  if ('run' in event)
    return `${event.type} ${event.run.cellId} by ${event.run.by.name}${event.type === 'finished' ? `: ${event.status}` : ''}`;
  if ('by' in event) return `${event.type} by ${event.by.name}`;
  if (event.type === 'readOnly') return `readOnly ${event.readOnly}`;
  return event.type === 'kernel' ? `kernel ${event.state}` : event.type;
}

describe('a session', () => {
  it('starts the kernel with the first run, and writes outputs and counts into the cells', async () => {
    const notebook = open(['x = 20\nprint("hi")\nx + 22', 'x * 2']);
    const events = eventsOf(notebook);
    const { session } = notebook;
    expect(await session.run('c0', { by: bot })).toMatchObject({ status: 'ok', executionCount: 1 });
    await session.run('c1', { by: ann });
    expect(session.document.cells).toMatchObject([
      {
        executionCount: 1,
        outputs: [{ text: 'hi\n' }, { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' } }],
      },
      { executionCount: 2, outputs: [{ data: { 'text/plain': '40' } }] },
    ]);
    expect(events.filter((event) => !event.startsWith('kernel'))).toEqual([
      'queued c0 by Bot',
      'started c0 by Bot',
      'finished c0 by Bot: ok',
      'queued c1 by Ann',
      'started c1 by Ann',
      'finished c1 by Ann: ok',
    ]);
  });

  it('runs one cell at a time, with the source that it had when the run was asked for', async () => {
    const { session, kernel } = open(['wait()', 'print("old")']);
    const busy = whenBusy(session.kernel);
    const first = session.run('c0', { by: bot });
    const second = session.run('c1', { by: ann });
    await busy;
    expect(session.running).toMatchObject({ cellId: 'c0', by: bot });
    expect(session.queued).toMatchObject([{ cellId: 'c1', by: ann }]);
    session.document.update('c1', 'print("new")', { by: ann });
    kernel.release();
    await first;
    expect((await second).outputs).toMatchObject([{ text: 'old\n' }]);
    expect(session.running).toBeUndefined();
  });

  it('knows the outputs of the last twenty runs that have ended, also of one cell', async () => {
    const { session } = open(['print("hi")']);
    for (let count = 0; count < 22; count += 1) await session.run('c0', { by: bot });
    const isKnown = session.runs.all().map(({ outputs }) => outputs !== undefined);
    expect(isKnown).toEqual([false, false, ...Array.from({ length: 20 }, () => true)]);
  });

  it('stops what runs and what waits', async () => {
    const { session, next } = open(['forever()', 'print("never")']);
    const busy = whenBusy(session.kernel);
    const first = session.run('c0', { by: bot });
    const second = session.run('c1', { by: bot }).catch((error) => error);
    await busy;
    const stopped = next('stopped');
    await session.stop({ by: ann });
    expect(await first).toMatchObject({ status: 'interrupted', outputs: [{ ename: 'KeyboardInterrupt' }] });
    expect(await second).toMatchObject({ code: 'cancelled', message: 'The cell "c1" did not run: Ann stopped the notebook.' });
    expect(await stopped).toEqual({ type: 'stopped', by: ann });
    expect(session.document.get('c1').cell.outputs).toEqual([]);
  });

  it('interrupts only what runs', async () => {
    const { session } = open(['forever()', 'print("then")']);
    const busy = whenBusy(session.kernel);
    const runs = [session.run('c0', { by: bot }), session.run('c1', { by: bot })];
    await busy;
    expect(await session.interrupt({ by: ann })).toMatchObject({ cellId: 'c0' });
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(['interrupted', 'ok']);
    expect(await session.interrupt({ by: ann })).toBeUndefined();
  });

  it('keeps a run from a kernel that is still starting when it is stopped', async () => {
    const { session } = open(['print("never")']);
    const run = session.run('c0', { by: bot });
    await session.stop({ by: ann });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
    const other = open(['print("never")']);
    const cancel = new AbortController();
    const cancelled = other.session.run('c0', { by: bot, signal: cancel.signal });
    cancel.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends a run that is interrupted while the kernel starts at once, and what waits behind it runs', async () => {
    const kernel = new TinyKernel();
    const { session } = open(['print("never")', 'print("then")'], { kernel });
    let goOn = () => {};
    const start = kernel.start.bind(kernel);
    kernel.start = async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await start();
    };
    const runs = [session.run('c0', { by: bot }), session.run('c1', { by: bot })];
    await session.interrupt({ by: ann });
    await expect(runs[0]).rejects.toMatchObject({ code: 'cancelled' });
    expect(kernel.state).toBe('starting');
    goOn();
    expect(await runs[1]).toMatchObject({ status: 'ok' });
  });

  it('takes a cancelled run out of the queue, and interrupts one that runs', async () => {
    const { session } = open(['forever()', 'print("never")']);
    const [first, second] = [new AbortController(), new AbortController()];
    const busy = whenBusy(session.kernel);
    const runs = [session.run('c0', { by: bot, signal: first.signal }), session.run('c1', { by: bot, signal: second.signal })];
    await busy;
    second.abort();
    await expect(runs[1]).rejects.toMatchObject({ code: 'cancelled' });
    first.abort();
    expect(await runs[0]).toMatchObject({ status: 'interrupted' });
    await expect(session.run('c0', { by: bot, signal: first.signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('begins anew after a restart: no names, count from 1, nothing waits', async () => {
    const { session } = open(['x = 1', 'forever()', 'x']);
    await session.run('c0', { by: ann });
    const busy = whenBusy(session.kernel);
    const running = session.run('c1', { by: bot });
    const waiting = session.run('c2', { by: bot }).catch((error) => error);
    await busy;
    await session.restart({ by: ann });
    expect(await running).toMatchObject({ status: 'interrupted' });
    expect(await waiting).toMatchObject({ code: 'cancelled', message: expect.stringContaining('Ann restarted the kernel') });
    expect(await session.run('c2', { by: bot })).toMatchObject({ status: 'error', executionCount: 1, outputs: [{ ename: 'NameError' }] });
  });

  it('says so when the kernel dies, in the cell too, and works again after a restart', async () => {
    const { session } = open(['print("a")\ndie()', '1 + 1']);
    await expect(session.run('c0', { by: bot })).rejects.toMatchObject({ code: 'kernel_dead', message: 'The tiny kernel died' });
    expect(session.document.get('c0').cell.outputs).toMatchObject([{ text: 'a\n' }, { output_type: 'error', ename: 'KernelError' }]);
    await expect(session.run('c1', { by: bot })).rejects.toMatchObject({
      code: 'kernel_dead',
      message: expect.stringContaining('restart_kernel'),
    });
    await session.restart({ by: ann });
    expect(await session.run('c1', { by: bot })).toMatchObject({ status: 'ok', executionCount: 1 });
  });

  it('tells why the kernel does not start, and tries again with the next run', async () => {
    const { session } = open(['1'], { kernel: new TinyKernel({ startFaults: ['no memory'] }) });
    await expect(session.run('c0', { by: bot })).rejects.toMatchObject({
      code: 'kernel_failed',
      message: 'The kernel could not be started: no memory',
    });
    expect(await session.run('c0', { by: bot })).toMatchObject({ status: 'ok' });
  });

  it('goes on when the cell that runs is deleted, and drops one that waits', async () => {
    const { session, kernel } = open(['print("a")\nwait()\nprint("b")', '1', '2']);
    const busy = whenBusy(session.kernel);
    const runs = ['c0', 'c1', 'c2'].map((id) => session.run(id, { by: bot }).catch((error) => error));
    await busy;
    session.document.delete('c0', { by: ann });
    session.document.delete('c1', { by: ann });
    kernel.release();
    expect(await Promise.all(runs)).toMatchObject([
      { code: 'cell_deleted', message: 'The cell "c0" was deleted while it ran.', data: { outputs: [{ text: 'a\n' }] } },
      { code: 'cell_deleted', message: 'The cell "c1" was deleted by Ann before it ran.' },
      { status: 'ok' },
    ]);
  });

  it('clears outputs at once, or with the next output', async () => {
    const { session, kernel } = open(['print("a")\nclear()\nprint("b")\nclear_later()\nwait()\nprint("c")']);
    const run = session.run('c0', { by: bot });
    await whenBusy(session.kernel);
    expect(session.document.get('c0').cell.outputs).toMatchObject([{ text: 'b\n' }]);
    kernel.release();
    expect((await run).outputs).toMatchObject([{ text: 'c\n' }]);
  });

  it('does not undo a change of a cell that is busy', async () => {
    const { session } = open(['1']);
    session.document.update('c0', 'forever()', { by: bot });
    const busy = whenBusy(session.kernel);
    const run = session.run('c0', { by: bot });
    await busy;
    expect(() => session.undoLast({ by: bot })).toThrow(expect.objectContaining({ code: 'cell_running' }));
    await session.stop({ by: ann });
    await run;
    session.undoLast({ by: bot });
    expect(session.document.get('c0').cell.source).toBe('1');
  });

  it('refuses text cells, and everything once it is closed', async () => {
    const { session } = open(['1']);
    session.document.setType('c0', 'markdown', { by: ann });
    await expect(session.run('c0', { by: bot })).rejects.toMatchObject({ code: 'not_code_cell' });
    await session.close();
    await session.close();
    await expect(session.run('c0', { by: bot })).rejects.toMatchObject({ code: 'closed' });
  });

  it('ends what runs and waits when it is closed', async () => {
    const { session } = open(['forever()', '1']);
    const busy = whenBusy(session.kernel);
    const runs = ['c0', 'c1'].map((id) => session.run(id, { by: bot }).catch((error) => error));
    await busy;
    await session.close();
    expect(await Promise.all(runs)).toMatchObject([{ status: 'interrupted' }, { code: 'closed' }]);
  });
});

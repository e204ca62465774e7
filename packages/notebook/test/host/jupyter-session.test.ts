// @module-tag P-208

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JupyterHarness, openJupyterHarness } from '../kernel/support/jupyter-harness.js';
import { callTool, startHost } from './support/hosts.js';
import { until } from './support/until.js';
import { openWindow } from './support/window.js';

/** A Python takes seconds to load, on a machine that does other things too. */
const startMs = 120_000;

describe('a notebook with a kernel of Jupyter', { timeout: 2 * startMs }, () => {
  let harness: JupyterHarness;
  beforeAll(async () => {
    harness = await openJupyterHarness();
  }, 5 * startMs);
  afterAll(() => harness?.close());

  it('asks the person in the window what code asks, and refuses the code of an agent with nobody there', async () => {
    const host = await startHost({ kernel: harness.kernel });
    const alone = await callTool(host, 'run_code', { code: 'name = input("Your name? ")' });
    expect(alone).toMatchObject({
      status: 'error',
      outputs: [
        { name: 'stderr', text: [expect.stringMatching(/"Your name\? ", and nobody has the notebook open/)] },
        { ename: 'EOFError' },
      ],
    });

    const window = await openWindow(host.url);
    const running = callTool(host, 'run_code', { code: 'import getpass\n[input("Your name? "), getpass.getpass("Key? ")]' });
    const first = await until(() => host.session.questions.open[0], startMs);
    expect(first).toMatchObject({ prompt: 'Your name? ', password: false, run: { by: { kind: 'agent', name: 'Claude' } } });
    const late = await openWindow(host.url);
    expect(late.hello?.questions).toMatchObject([{ id: first?.id, prompt: 'Your name? ' }]);
    await window.ask({ do: 'answerInput', questionId: first?.id ?? 0, text: 'Ada' });
    await expect(late.ask({ do: 'answerInput', questionId: first?.id ?? 0, text: 'Eve' })).rejects.toMatchObject({ code: 'no_question' });
    const second = await until(() => host.session.questions.open[0], startMs);
    expect(second).toMatchObject({ prompt: 'Key? ', password: true });
    await window.ask({ do: 'answerInput', questionId: second?.id ?? 0, text: 'secret' });
    expect(await running).toMatchObject({
      status: 'ok',
      outputs: [{ data: { 'text/plain': ["['Ada', 'secret']"] } }],
    });
    const events = window.of('session').map(({ event }) => event.type);
    expect(events.filter((type) => type === 'input' || type === 'inputEnded')).toEqual(['input', 'inputEnded', 'input', 'inputEnded']);

    const refused = callTool(host, 'run_code', { code: 'input()' });
    const third = await until(() => host.session.questions.open[0], startMs);
    await window.ask({ do: 'answerInput', questionId: third?.id ?? 0, text: null });
    expect(await refused).toMatchObject({
      status: 'error',
      outputs: [{ text: [expect.stringMatching(/no answer was given/)] }, { ename: 'EOFError' }],
    });
    await expect(window.ask({ do: 'answerInput', questionId: 1, text: 5 as never })).rejects.toMatchObject({ code: 'bad_request' });

    // What runs when it is asked ends the question too.
    const interrupted = callTool(host, 'run_code', { code: 'input("?")' });
    await until(() => host.session.questions.open.length, startMs);
    await window.ask({ do: 'interrupt' });
    expect(await interrupted).toMatchObject({ status: 'interrupted' });
    expect(host.session.questions.open).toEqual([]);

    // A display stands in its cell, and a later cell shows it anew there.
    await callTool(host, 'run_code', { code: 'h = display("one", display_id="d"); print("below")' });
    const cell = host.session.document.cells.at(-1);
    await callTool(host, 'run_code', { code: 'h.update("two")' });
    expect(host.session.document.cells.at(-1)?.outputs).toEqual([]);
    expect(host.session.document.find(cell?.id ?? '')?.outputs).toMatchObject([
      { output_type: 'display_data', data: { 'text/plain': "'two'" } },
      { text: 'below\n' },
    ]);
    await until(() => window.replica?.version === host.session.document.version);
    expect(window.replica?.find(cell?.id ?? '')?.outputs[0]).toMatchObject({ data: { 'text/plain': "'two'" } });
    // In a cell that was cleared it is shown nowhere.
    await window.ask({ do: 'clearOutputs', cellId: cell?.id ?? '' });
    await callTool(host, 'run_code', { code: 'h.update("three")' });
    expect(host.session.document.find(cell?.id ?? '')?.outputs).toEqual([]);
    await host.close();
  });
});

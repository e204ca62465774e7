// @module-tag P-657

import { afterEach, describe, expect, it, vi } from 'vitest';
import { ann, bot, type OpenNotebook, openNotebook, whenBusy } from '../../test/support/open-notebook.js';
import { toText } from '../model/text.js';

const opened: OpenNotebook[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const { session } of opened.splice(0)) await session.close();
});

function open(sources: readonly string[]): OpenNotebook {
  const notebook = openNotebook(sources);
  opened.push(notebook);
  return notebook;
}

const textsOf = ({ session }: OpenNotebook, id: string) =>
  session.document.find(id)?.outputs.map((output) => (output.output_type === 'stream' ? toText(output.text) : output.output_type));

async function openWithLate(): Promise<OpenNotebook> {
  const notebook = open(['print("now")\nlater("late")', 'wait()']);
  await notebook.session.run('c0', { by: bot });
  return notebook;
}

describe('what code shows when its cell has ended', () => {
  it('stands in that cell, also while another one runs, and get_output has it', async () => {
    const notebook = await openWithLate();
    const busy = whenBusy(notebook.kernel);
    const other = notebook.session.run('c1', { by: ann });
    await busy;
    notebook.kernel.showLate();
    notebook.kernel.release();
    await other;
    expect(textsOf(notebook, 'c0')).toEqual(['now\nlate 1\n']);
    expect(textsOf(notebook, 'c1')).toEqual([]);
    expect((await notebook.call('get_output', { cellId: 'c0' })).value).toMatchObject({ text: 'now\nlate 1\n' });
  });

  it.each<[string, (notebook: OpenNotebook) => unknown, string[] | undefined]>([
    ['was cleared', ({ session }) => session.document.clear('c0', { by: ann }), []],
    ['was deleted', ({ session }) => session.document.delete('c0', { by: ann }), undefined],
    [
      'was deleted and is back',
      ({ session }) => {
        session.document.delete('c0', { by: bot });
        session.undoLast({ by: ann });
      },
      ['now\n'],
    ],
    ['became text and code again', toTextAndBack, []],
    ['was run again', ({ session }) => session.run('c0', { by: ann }), ['now\n']],
    ['has lost its kernel to a restart', ({ session }) => session.restart({ by: ann }), ['now\n']],
  ])('is dropped once the cell %s', async (_, change, left) => {
    const notebook = await openWithLate();
    await change(notebook);
    notebook.session.document.onChange(() => expect.unreachable('the notebook has changed'));
    notebook.kernel.showLate();
    expect(textsOf(notebook, 'c0')).toEqual(left);
  });

  it('is as bounded as what a run shows: a hundred thousand lines', async () => {
    vi.useFakeTimers();
    const text50 = 'y'.repeat(50);
    const notebook = open([`later("${text50}", 40000)\nlater("${text50}", 60000)`]);
    await notebook.session.run('c0', { by: bot });
    for (const _ of ['first', 'second']) {
      notebook.kernel.showLate();
      vi.advanceTimersByTime(1000);
    }
    const [text, note, tail, ...more] = textsOf(notebook, 'c0') ?? [];
    expect(more).toEqual([]);
    expect(text?.length).toBeLessThanOrEqual(1024 * 1024);
    expect(note).toMatch(/^\[Left out: [45],\d+,\d+ bytes of printed text\./);
    expect(tail).toMatch(/^\[The last lines of it:\]\n.* 60000\n$/s);
  });
});

function toTextAndBack({ session: { document } }: OpenNotebook): void {
  document.setType('c0', 'markdown', { by: ann });
  document.setType('c0', 'code', { by: ann });
}

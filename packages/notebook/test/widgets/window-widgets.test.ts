import { afterEach, describe, expect, it } from 'vitest';
import { WidgetTraffic } from '../../src/host/window-widgets.js';
import { createDocument } from '../../src/model/document.js';
import { createNotebookSession, type NotebookSession } from '../../src/session/session.js';
import type { WidgetNews } from '../../src/viewer/widgets.js';
import { ToyKernel } from '../ui/support/toy-kernel.js';
import { MemoryComms, outputState } from './support/memory-comms.js';

class KernelWithComms extends ToyKernel {
  readonly comms = new MemoryComms();
}

const by = { kind: 'person' as const, name: 'a test' };

describe('widgets of windows', () => {
  const closes: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
  });

  function open() {
    const kernel = new KernelWithComms();
    const { comms } = kernel;
    const session: NotebookSession = createNotebookSession({ document: createDocument(), kernel });
    const cellId = session.document.insert(0, { type: 'code', source: '' }, { by }).id;
    const traffic = new WidgetTraffic(session);
    closes.push(
      () => traffic.close(),
      () => session.close(),
    );
    const window = () => {
      const news: WidgetNews[] = [];
      const widgets = traffic.join((more) => news.push(...more));
      const set = (commId: string, state: object, more: object = {}) =>
        widgets.call({ commId, cellId, data: { method: 'update', state, ...more }, buffers: [] }, by);
      return { news, widgets, set };
    };
    comms.open('a', { _model_name: 'IntSliderModel', value: 1 });
    return { comms, kernel, session, cellId, window };
  }

  it('are told once of what was set ten thousand times, and only of what they show', async () => {
    const { window, comms } = open();
    const { widgets, news } = window();
    comms.open('b', { value: 1 });
    widgets.open('a');
    for (let value = 0; value <= 10_000; value++) for (const id of ['a', 'b']) comms.update(id, { value });
    await expect.poll(() => news.length).toBeGreaterThan(0);
    expect(news).toEqual([{ kind: 'update', commId: 'a', state: { value: 10_000 }, bufferPaths: [], buffers: [], isRelayed: false }]);
    comms.update('a', { value: 3 });
    comms.say('a', { method: 'custom', content: 'after it' });
    comms.close('a');
    expect(news.slice(1).map(({ kind }) => kind)).toEqual(['update', 'custom', 'close']);
  });

  it('say what a widget shows as text, and that its code has closed it', { tags: ['P-253'] }, () => {
    const { window, comms } = open();
    const { widgets } = window();
    comms.open('bar', { _model_module: '@jupyter-widgets/controls', _model_name: 'IntProgressModel', value: 3, max: 9 });
    expect(['a', 'bar', 'nobody'].map(widgets.find)).toEqual([{ found: 'yes' }, { found: 'yes', text: '3 of 9' }, { found: 'no' }]);
    comms.close('bar');
    expect(widgets.find('bar')).toEqual({ found: 'closed' });
    comms.open('bar', { value: 1 });
    expect(widgets.find('bar')).toEqual({ found: 'yes' });
  });

  it('relay what a person does in one to the others and to the kernel', async () => {
    const { window, comms } = open();
    const [left, right] = [window(), window()];
    for (const { widgets } of [left, right]) widgets.open('a');
    const done = left.set('a', { value: 5 });
    await expect.poll(() => right.news).toEqual([expect.objectContaining({ state: { value: 5 }, isRelayed: true })]);
    expect(left.news).toEqual([]);
    expect(comms.waiting.map(({ message }) => message.data)).toEqual([{ method: 'update', state: { value: 5 }, buffer_paths: [] }]);
    comms.waiting[0]?.end();
    await done;
    expect(right.widgets.open('a').models[0]?.state).toMatchObject({ value: 5 });
  });

  it('call what they have opened and the kernel knows, and nothing else', async () => {
    const { window, comms } = open();
    const { widgets, set } = window();
    comms.open('out', outputState);
    await expect(set('a', { value: 2 })).rejects.toThrow('not there any more');
    for (const id of ['a', 'out']) widgets.open(id);
    await expect(set('nobody', { value: 2 })).rejects.toThrow('not there any more');
    await expect(set('out', { msg_id: '7' })).rejects.toThrow('does not know');
    await expect(set('a', { never: 2 })).rejects.toThrow('does not know');
    await expect(set('a', { _model_name: 'X' })).rejects.toThrow('does not know');
    await expect(set('a', { value: 'x'.repeat(2_000_000) })).rejects.toThrow('a megabyte');
    const call = (data: { [key: string]: unknown }, buffers: string[] = []) => widgets.call({ commId: 'a', cellId: '', data, buffers }, by);
    await expect(call({ method: 'request_state' })).rejects.toThrow('no kernel takes');
    await expect(call({ method: 'custom', content: {} }, ['A'.repeat(12_000_000)])).rejects.toThrow('8 MB');
    expect(comms.waiting).toEqual([]);
    const clicks = Array.from({ length: 300 }, () =>
      call({ method: 'custom', content: { event: 'click' }, more: 'unknown' }).catch(() => 'refused'),
    );
    expect(comms.waiting.length).toBe(256);
    expect(comms.waiting[0]?.message.data).toEqual({ method: 'custom', content: { event: 'click' } });
    for (const { end } of comms.waiting) end();
    expect((await Promise.all(clicks)).filter((end) => end === 'refused').length).toBe(44);
  });

  it('hear nothing more when the kernel begins anew, or they are closed', async () => {
    const { window, comms, session } = open();
    const [one, two, closed] = [window(), window(), window()];
    for (const { widgets } of [one, two, closed]) widgets.open('a');
    closed.widgets.close();
    await session.restart({ by });
    expect(one.news).toEqual([]);
    session.widgets?.clear();
    expect([one, two, closed].map(({ news }) => news.length)).toEqual([1, 1, 0]);
    expect(one.news).toEqual([{ kind: 'gone' }]);
    expect(one.widgets.find('a')).toEqual({ found: 'no' });
    comms.open('a', { value: 1 });
    comms.say('a', { method: 'custom', content: 'to nobody' });
    expect(one.news.length).toBe(1);
  });
});

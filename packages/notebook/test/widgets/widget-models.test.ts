// @module-tag P-251

import { describe, expect, it } from 'vitest';
import { parseComm } from '../../src/kernel/jupyter-protocol/kernel-comms.js';
import type { Output } from '../../src/model/output.js';
import type { ModelState } from '../../src/widgets/model-state.js';
import { withShownWithin } from '../../src/widgets/shown-within.js';
import { type WidgetEvent, type WidgetLimits, WidgetModels } from '../../src/widgets/widget-models.js';
import { MemoryComms, outputState } from './support/memory-comms.js';

function open(limits?: WidgetLimits) {
  const comms = new MemoryComms();
  const models = new WidgetModels(comms, limits);
  const events: WidgetEvent[] = [];
  models.onEvent((event) => events.push(event));
  return { comms, models, events, kinds: () => events.splice(0).map(({ kind }) => kind) };
}

const link = { _model_module: '@jupyter-widgets/controls', _model_name: 'LinkModel' };

describe('WidgetModels', () => {
  it('keeps what the kernel has opened and set, and nothing of other targets or unknown ids', () => {
    const { comms, models, kinds } = open();
    comms.open('a', { value: 1, max: 9 });
    comms.open('other', { value: 1 }, { targetName: 'jupyter.matplotlib' });
    comms.update('a', { value: 2 });
    comms.update('nobody', { value: 2 });
    comms.say('a', { method: 'echo_update', state: { value: 77 } });
    comms.say('a', { method: 'custom', content: 'hello' });
    expect(models.find('a')?.part().state).toEqual({ value: 2, max: 9 });
    expect(models.find('other')).toBeUndefined();
    expect(kinds()).toEqual(['open', 'update', 'custom']);
    comms.close('a');
    expect(models.find('a')).toBeUndefined();
    comms.open('b', {});
    models.clear();
    expect(kinds()).toEqual(['close', 'open', 'gone']);
  });

  it('keeps binary values beside the state, each as it was set last', () => {
    const { comms, models } = open();
    const bytes = (text: string) => new TextEncoder().encode(text);
    comms.open('a', { list: [null, 1] }, { buffer_paths: [['value'], ['list', 0]], buffers: [bytes('one'), bytes('in a list')] });
    comms.update('a', {}, { buffer_paths: [['value']], buffers: [bytes('two')] });
    const part = models.find('a')?.part();
    expect(part?.state).toEqual({ list: [null, 1] });
    expect(part?.bufferPaths).toEqual([['list', 0], ['value']]);
    expect(part?.buffers.map((buffer) => new TextDecoder().decode(buffer))).toEqual(['in a list', 'two']);
    expect(models.find('a')?.part(['value']).bufferPaths).toEqual([['value']]);
  });

  it('reaches all that a view needs, and links beside it, and nothing else', () => {
    const { comms, models } = open();
    comms.open('box', { children: ['IPY_MODEL_child'], layout: 'IPY_MODEL_layout' });
    comms.open('child', { deep: { list: ['IPY_MODEL_deep', 'IPY_MODEL_box'] } });
    comms.open('layout', {});
    comms.open('deep', {});
    comms.open('far', {});
    comms.open('alone', {});
    comms.open('link', { ...link, source: ['IPY_MODEL_deep', 'value'], target: ['IPY_MODEL_far', 'value'] });
    comms.open('another', { ...link, source: ['IPY_MODEL_alone', 'value'], target: ['IPY_MODEL_alone', 'max'] });
    expect([...models.reach('box').keys()].sort()).toEqual(['box', 'child', 'deep', 'far', 'layout', 'link']);
    expect(models.reach('nobody').size).toBe(0);
    expect(models.linkedBy('link')).toEqual(new Set(['deep', 'far']));
    expect(models.linkedBy('box')).toBeUndefined();
  });

  it('reaches along thousands of links in the time of one look', () => {
    const { comms, models } = open({ maxModels: 20_000 });
    const length = 2400;
    for (let at = 0; at <= length; at++) comms.open(`model ${at}`, { value: at });
    // Backwards: each is found only after the one that was opened later.
    let looks = 0;
    for (let at = length - 1; at >= 0; at--) {
      comms.open(`link ${at}`, { ...link, source: [`IPY_MODEL_model ${at}`, 'value'], target: [`IPY_MODEL_model ${at + 1}`, 'value'] });
      const model = models.find(`link ${at}`) as ModelState;
      const own = model.references.bind(model);
      model.references = () => {
        looks++;
        return own();
      };
    }
    expect(models.reach('model 0').size).toBe(2 * length + 1);
    expect(looks).toBeLessThan(5 * length);
    comms.close('link 1');
    expect([...models.reach('model 0').keys()].sort()).toEqual(['link 0', 'model 0', 'model 1']);
    comms.update('link 0', { target: ['IPY_MODEL_model 9', 'value'] });
    expect(models.reach('model 0').has('model 1')).toBe(false);
    expect(models.reach('model 0').has('model 9')).toBe(true);
  });

  it('counts names and what is empty', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`a${at}`, 0]));
    const { comms, models } = open();
    comms.open('names', { value: { ['k'.repeat(100_000)]: 1 } });
    comms.open('many', many);
    comms.open('empty', { value: Array.from({ length: 1000 }, () => ({})) });
    comms.open('paths', {}, { buffer_paths: [['value', 'k'.repeat(100_000)]], buffers: [new Uint8Array(0)] });
    const bytes = (id: string) => models.find(id)?.bytes ?? 0;
    for (const id of ['names', 'many', 'paths']) expect(bytes(id)).toBeGreaterThan(100_000);
    expect(bytes('empty')).toBeGreaterThan(50_000);
  });

  it('takes binary values by the hundred thousand', () => {
    const { comms, models } = open();
    // Each name looked for among all would be ten thousand million steps.
    const paths = Array.from({ length: 100_000 }, (_, at) => [`a${at}`]);
    comms.open('a', {}, { buffer_paths: paths, buffers: paths.map(() => new Uint8Array(0)) });
    expect(models.find('a')?.part().buffers).toHaveLength(100_000);
  });

  it('is not told of what is too deep to be passed on', () => {
    const content = (depth: number) => ({
      comm_id: 'a',
      data: { method: 'custom', content: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) },
    });
    const message = { type: 'comm_msg', metadata: {}, buffers: [] };
    expect(parseComm({ ...message, content: content(100) })).toBeDefined();
    expect(parseComm({ ...message, content: content(100_000) })).toBeUndefined();
  });

  it('forgets what was used longest ago when there is too much', () => {
    const few = open({ maxModels: 2 });
    for (const id of ['a', 'b']) few.comms.open(id, { value: id });
    few.models.reach('a');
    few.comms.open('c', {});
    expect(['a', 'b', 'c'].map((id) => few.models.find(id) !== undefined)).toEqual([true, false, true]);
    expect(few.kinds()).toEqual(['open', 'open', 'open', 'close']);
    const small = open({ maxBytes: 10_000 });
    small.comms.open('a', { value: 'x'.repeat(1000) });
    small.comms.open('b', {}, { buffer_paths: [['value']], buffers: [new Uint8Array(9000)] });
    expect(small.models.find('a')).toBeUndefined();
    small.comms.update('b', { value: 'small' });
    small.comms.open('c', { value: 'x'.repeat(1000) });
    expect(small.models.find('b')).toBeDefined();
  });
});

describe('Output widgets', () => {
  const texts = (outputs: readonly Output[]) => outputs.map((output) => (output as { text?: string }).text);

  it('take what their code shows, the innermost first, and give it back when they end', () => {
    const { comms, models } = open();
    for (const id of ['outer', 'inner']) comms.open(id, outputState);
    expect(comms.print('7', 'before')).toBe(false);
    comms.update('outer', { msg_id: '7' });
    expect(comms.print('7', 'one\n')).toBe(true);
    expect(comms.print('8', 'of another message')).toBe(false);
    comms.update('inner', { msg_id: '7' });
    comms.print('7', 'two\n');
    comms.update('inner', { msg_id: '' });
    comms.print('7', 'three\n');
    comms.update('outer', { msg_id: '' });
    expect(comms.print('7', 'after')).toBe(false);
    expect(texts(models.shownBy('outer'))).toEqual(['one\nthree\n']);
    expect(models.find('inner')?.get('outputs')).toEqual([{ output_type: 'stream', name: 'stdout', text: 'two\n' }]);
  });

  it('are cleared at once or with the next output, and set by code', () => {
    const { comms, models } = open();
    comms.open('out', { ...outputState, msg_id: '7' });
    comms.print('7', 'one');
    comms.show('7', { kind: 'clear', wait: true });
    expect(texts(models.shownBy('out'))).toEqual(['one']);
    comms.print('7', 'two');
    expect(texts(models.shownBy('out'))).toEqual(['two']);
    comms.show('7', { kind: 'clear', wait: false });
    expect(models.find('out')?.get('outputs')).toEqual([]);
    comms.update('out', { outputs: [{ output_type: 'stream', name: 'stdout', text: 'set' }, 'nonsense'] });
    comms.print('7', ' and printed');
    expect(texts(models.shownBy('out'))).toEqual(['set and printed']);
  });

  it('tell their kernel one thing at a time, and the newest', async () => {
    const { comms } = open();
    comms.open('out', { ...outputState, msg_id: '7' });
    for (let line = 0; line < 1000; line++) comms.print('7', `${line}\n`);
    await Promise.resolve();
    expect(comms.waiting.length).toBe(1);
    for (let line = 1000; line < 2000; line++) comms.print('7', `${line}\n`);
    await Promise.resolve();
    expect(comms.waiting.length).toBe(1);
    comms.waiting[0]?.end();
    await expect.poll(() => comms.waiting.length).toBe(2);
    expect(JSON.stringify(comms.waiting[1]?.message.data)).toMatch(/1999\\n/);
  });

  it('hold no more than a cell does', () => {
    const { comms, models } = open();
    comms.open('out', { ...outputState, msg_id: '7' });
    for (let round = 0; round < 40; round++) comms.print('7', 'x'.repeat(100_000));
    expect(models.find('out')?.bytes).toBeLessThan(3 * 1024 * 1024);
  });

  it('stand behind their widget for those who read texts', { tags: ['P-253'] }, () => {
    const { comms, models } = open();
    comms.open('box', { children: ['IPY_MODEL_out'] });
    comms.open('out', { ...outputState, msg_id: '7' });
    comms.print('7', 'called with 3');
    const data = { 'text/plain': 'interactive(…)', 'application/vnd.jupyter.widget-view+json': { model_id: 'box' } };
    const shown: Output = { output_type: 'display_data', data, metadata: {} };
    expect(texts(withShownWithin([shown], models))).toEqual([undefined, 'called with 3']);
    // One that shows itself.
    comms.show('7', { kind: 'output', output: shown });
    expect(withShownWithin([shown], models)).toHaveLength(3);
    // A thousand times: each would hold a thousand, which hold a thousand.
    comms.update('out', { outputs: Array.from({ length: 1000 }, () => shown) });
    expect(withShownWithin([shown], models)).toHaveLength(1001);
    expect(withShownWithin([shown], undefined)).toEqual([shown]);
  });
});

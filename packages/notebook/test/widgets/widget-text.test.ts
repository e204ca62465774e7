// @module-tag P-253

import { describe, expect, it } from 'vitest';
import { createImageCollector } from '../../src/tools/output-content.js';
import { WidgetModels } from '../../src/widgets/widget-models.js';
import { MemoryComms, outputState } from './support/memory-comms.js';

const control = (kind: string, state: object) => ({ _model_module: '@jupyter-widgets/controls', _model_name: `${kind}Model`, ...state });
const box = (kind: string, children: readonly string[], state = {}) =>
  control(kind, { children: children.map((id) => `IPY_MODEL_${id}`), ...state });

async function readText(models: WidgetModels, modelId: string): Promise<string> {
  const data = { 'text/plain': 'as it was shown', 'application/vnd.jupyter.widget-view+json': { model_id: modelId } };
  const [output] = await createImageCollector({}, models).collect([{ output_type: 'display_data', data, metadata: {} }]);
  const read = output?.data as { 'text/plain'?: string | string[] } | undefined;
  return [read?.['text/plain'] ?? ''].flat().join('');
}

function open() {
  const comms = new MemoryComms();
  const models = new WidgetModels(comms);
  return { comms, read: (modelId: string) => readText(models, modelId) };
}

describe('the text of a widget', () => {
  it('is what it shows now: a bar of tqdm that has ended', async () => {
    const { comms, read } = open();
    comms.open('left', control('HTML', { value: 'Rows:   0%' }));
    comms.open('bar', control('FloatProgress', { value: 0, max: 20, description: '' }));
    comms.open('right', control('HTML', { value: ' 0/20 [00:00&lt;?, ?it/s]' }));
    comms.open('layout', { display: null });
    comms.open('tqdm', box('HBox', ['left', 'bar', 'right'], { layout: 'IPY_MODEL_layout' }));
    comms.update('left', { value: 'Rows: 100%' });
    comms.update('bar', { value: 20 });
    comms.update('right', { value: ' 20/20 [00:00&lt;00:00, 90.1it/s]' });
    expect(await read('tqdm')).toBe('Rows: 100% 20 of 20 20/20 [00:00<00:00, 90.1it/s]');
    comms.update('layout', { display: 'none' });
    expect(await read('tqdm')).toBe('[a widget that shows nothing now]');
    comms.close('tqdm');
    expect(await read('tqdm')).toBe('[a widget that shows nothing now]');
  });

  it('names what a person could set, and what is chosen', async () => {
    const { comms, read } = open();
    comms.open('slider', control('IntSlider', { description: 'Threshold', value: 30 }));
    comms.open('list', control('Dropdown', { description: 'Kind:', index: 1, _options_labels: ['a', 'b'] }));
    comms.open('range', control('IntRangeSlider', { description: 'Range', value: [2, 5] }));
    comms.open('secret', control('Password', { description: 'Key', value: 'hidden' }));
    comms.open('go', control('Button', { description: 'Go' }));
    comms.open('out', outputState);
    comms.open('other', { _model_module: 'ipyleaflet', _model_name: 'LeafletMapModel' });
    comms.open('tabs', box('Tab', ['go', 'other'], { titles: ['Run', 'Map'] }));
    comms.open('all', box('VBox', ['slider', 'list', 'range', 'secret', 'tabs', 'out']));
    const lines = ['Threshold: 30', 'Kind: b', 'Range: 2–5', 'Key: ', 'Run: [Go]', 'Map: [LeafletMap]'];
    expect((await read('all')).split('\n')).toEqual(lines);
  });

  it('is what code has said of it, where it is not known or of another package', async () => {
    const { comms, read } = open();
    comms.open('map', { _model_module: 'ipyleaflet', _model_name: 'LeafletMapModel' });
    expect([await read('map'), await read('nobody')]).toEqual(['as it was shown', 'as it was shown']);
  });

  it('ends, also where boxes stand in one another, or are very many', async () => {
    const { comms, read } = open();
    comms.open('a', box('VBox', ['b', 'b', 'a']));
    comms.open('b', box('VBox', ['a', 'a', 'b']));
    expect(await read('a')).toBe('[a widget that shows nothing now]');
    const ids = Array.from({ length: 3000 }, (_, at) => `label${at}`);
    for (const id of ids) comms.open(id, control('Label', { value: id.repeat(10) }));
    comms.open('many', box('VBox', ids));
    expect((await read('many')).length).toBeLessThanOrEqual(400);
  });
});

// @module-tag P-665

import { encode } from 'gpt-tokenizer';
import { describe, expect, it } from 'vitest';
import { createImageCollector } from '../tools/output-content.js';
import { describeScripted } from './scripted-summary.js';

const figure = {
  data: [
    { type: 'scatter', name: 'setosa', x: { dtype: 'f8', bdata: 'AAAAAAAADEAAAAAAAAAIQA==' }, y: [5, 4.333333333] },
    { type: 'bar', x: ['2024-01-01', '2023-05-02'], y: [1, 2] },
    { type: 'pie', labels: ['a', 'b', 'c', 'd'], values: [1, 2, 3, 4] },
  ],
  layout: { title: { text: 'Irises' }, xaxis: { title: { text: 'width' } }, yaxis: { title: 'length' }, template: {} },
};
const spec = {
  data: { name: 'd' },
  datasets: {
    d: [
      { day: 1, kind: 'a' },
      { day: 4, kind: 'b' },
    ],
  },
  mark: { type: 'line' },
  title: 'Sales',
  encoding: { x: { field: 'day', type: 'quantitative' }, color: { field: 'kind' }, y: { aggregate: 'count' } },
};
const page = (script: string) => ({ 'text/html': `<div id="x"></div><script>${script}</script>` });
const plotlyPage = page(
  `Plotly.newPlot("id", ${JSON.stringify(figure.data)}, ${JSON.stringify({ ...figure.layout, template: undefined })}, {"responsive": true})`,
);
const altairPage = page(`(function(spec, embedOpt){ vegaEmbed(outputDiv, spec) })(${JSON.stringify(spec)}, {"mode": "vega-lite"});`);
const folium = (script: string) => ({
  'text/html': `<div><span>Make this Notebook Trusted</span><iframe srcdoc="&lt;script&gt;${script.replaceAll('"', '&quot;')}&lt;/script&gt;" style="height:100%"></iframe></div>`,
});

describe('what is said of a chart in place of its script', () => {
  it.each([
    ['Plotly, as data', { 'application/vnd.plotly.v1+json': figure }],
    ['Plotly, as a page', plotlyPage],
  ])('%s: traces, axes and ranges', (_, bundle) => {
    expect(describeScripted(bundle)).toBe(
      [
        'Plotly chart, "Irises", 3 traces, x is "width", y is "length"',
        'scatter "setosa", 2 points, x 3…3.5, y 4.333…5',
        'bar, 2 points, x 2023-05-02…2024-01-01, y 1…2',
        'pie, 4 points, values 1…4, labels a, b, c, … (4)',
      ].join('\n'),
    );
  });

  it.each([
    ['Vega-Lite, as data', { 'application/vnd.vegalite.v5+json': spec }],
    ['Vega-Lite, as Altair 6 names it', { 'application/vnd.vegalite.v6.json': spec }],
    ['Altair, as a page', altairPage],
  ])('%s: marks, channels and ranges', (_, bundle) => {
    expect(describeScripted(bundle)).toBe('Vega-Lite chart, "Sales", line, 2 rows\nx "day" (quantitative) 1…4\ncolor "kind" a, b\ny count');
  });

  it('Bokeh: glyphs, and the columns that they show', () => {
    const attributes = {
      glyph: { name: 'Line' },
      data_source: {
        attributes: {
          data: {
            entries: [
              ['x', [1, 3]],
              ['y', [2, 9]],
            ],
          },
        },
      },
    };
    const documents = {
      d: {
        roots: [{ type: 'object', name: 'Figure', attributes: { renderers: [{ type: 'object', name: 'GlyphRenderer', attributes }] } }],
      },
    };
    expect(describeScripted({ 'application/javascript': `const docs_json = ${JSON.stringify(documents)};` })).toBe(
      'Bokeh chart\nLine: x 1…3, y 2…9',
    );
  });

  it('Bokeh: how many values a column of numpy has, which is packed', () => {
    const packed = { type: 'ndarray', array: { type: 'bytes', data: 'H4sI' }, shape: [120], dtype: 'float64' };
    const texts = { type: 'ndarray', array: ['Oslo', 'Rome'], shape: [2], dtype: 'object' };
    const attributes = {
      glyph: { name: 'Scatter' },
      data_source: {
        attributes: {
          data: {
            entries: [
              ['x', packed],
              ['city', texts],
            ],
          },
        },
      },
    };
    const script = `const docs_json = ${JSON.stringify({ d: { type: 'object', name: 'GlyphRenderer', attributes } })};`;
    expect(describeScripted({ 'application/javascript': script })).toBe('Bokeh chart\nScatter: x 120 values, city Oslo, Rome');
  });

  it('a map: what stands on it, and where', () => {
    const script = 'L.map("m", {center: [52.5, 13.4], "zoom": 12}); L.marker([1, 2]); L.marker([1, 2]); L.circle([1, 2]);';
    expect(describeScripted(folium(script))).toBe('Map (Leaflet), center 52.5, 13.4, zoom 12\n2 × marker\n1 × circle');
    expect(describeScripted(folium('L.map(\n "m"); L.heatLayer([[1, 2]])'))).toBe('Map (Leaflet)\n1 × heatLayer');
  });

  it('a library, which has calls of any name, is none of them', () => {
    expect(describeScripted(page('function a(L){return L.map(function(b){return b})}'))).toMatch(/^HTML with scripts/);
  });

  it('a page that is a file, other scripts, and nothing of HTML without any', () => {
    expect(describeScripted({ 'text/html': '<iframe width="100%" height="600px" src="net.html"></iframe>' })).toBe('Page net.html');
    expect(describeScripted(page('x()'))).toBe('HTML with scripts, 38 characters');
    expect(describeScripted({ 'text/html': '<b>x</b>', 'text/plain': 'x' })).toBeUndefined();
  });

  it.each([
    ['Plotly without anything', { 'application/vnd.plotly.v1+json': {} }],
    [
      'Plotly of odd types',
      { 'application/vnd.plotly.v1+json': { data: [null, 1, { type: {}, x: { dtype: 'f8', bdata: '§' }, name: 5 }], layout: 'x' } },
    ],
    ['Vega without anything', { 'application/vnd.vegalite.v5+json': { encoding: 5, data: [], layer: [null] } }],
    ['a list without an end', page('Plotly.newPlot("a", [1, 2')],
    ['a map of no map', folium('L.map(')],
    ['frames in frames', { 'text/html': '<iframe srcdoc="<iframe>"><iframe>' }],
  ])('%s is described, and nothing throws', (_, bundle) => {
    expect(() => describeScripted(bundle)).not.toThrow();
  });

  const long = 'a very long name of something '.repeat(20);
  const many = Array.from({ length: 300 }, (_, at) => ({
    type: 'scatter',
    name: `${long}${at}`,
    x: Array.from({ length: 500 }, (_, x) => x * 1.234567),
    y: [long],
  }));
  it.each([
    [
      'Plotly',
      {
        'application/vnd.plotly.v1+json': { data: many, layout: { title: long, xaxis: { title: long } } },
        'text/html': plotlyPage['text/html'],
        'text/plain': 'Figure({…'.repeat(400),
      },
    ],
    [
      'Vega-Lite',
      {
        'application/vnd.vegalite.v5+json': {
          ...spec,
          title: long,
          encoding: Object.fromEntries(many.map(({ name }) => [name, { field: name, type: 'nominal' }])),
        },
      },
    ],
    ['Altair', altairPage],
    ['folium', folium('L.map("m"); '.repeat(2000))],
    ['a script', page('x(); '.repeat(5000))],
  ])('an answer with %s has at most 200 tokens, however large it is', async (_, data) => {
    const [read] = await createImageCollector({}).collect([{ output_type: 'display_data', data, metadata: {} }]);
    expect(encode(JSON.stringify(read)).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(read)).toContain('get_output has');
  });

  it('a million points are read in a moment, and brackets in texts end nothing', () => {
    const x = Array.from({ length: 1_000_000 }, (_, at) => at);
    expect(describeScripted({ 'application/vnd.plotly.v1+json': { data: [{ x, name: ']' }] } })).toContain('1000000 points');
    expect(describeScripted(page(`Plotly.newPlot("a", [{"name": "]}\\"]", "y": [7]}], {}`))).toContain('1 points, y 7…7');
  });

  it('has the picture that something draws, and none where one is there already', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const asked: unknown[] = [];
    const drawChart = async (output: unknown) => {
      asked.push(output);
      return png;
    };
    const images = createImageCollector({ drawChart });
    const outputs = [altairPage, { ...altairPage, 'image/png': png }, { 'text/plain': 'x' }].map((data) => ({
      output_type: 'display_data' as const,
      data,
      metadata: {},
    }));
    await images.collect(outputs);
    expect(asked).toEqual([outputs[0]]);
    expect(images.blocks.map(({ type }) => type)).toEqual(['image', 'image']);
  });
});

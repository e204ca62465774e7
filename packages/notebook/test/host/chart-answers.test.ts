// @module-tag deep
// @module-tag P-665
// @module-tag P-666

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { createNotebookHost, type NotebookHost } from '../../src/host/notebook-host.js';
import { createJupyterKernel } from '../../src/kernel/jupyter/jupyter-kernel.js';
import { readImageFacts } from '../../src/outputs/image-facts.js';

const frame = 'import numpy as np\nx = np.arange(500.0)\ny = np.sin(x)';
/** As people write them, with what each answer says of it. */
const cells: { readonly [name: string]: readonly [code: string, says: RegExp] } = {
  plotly: ['import plotly.graph_objects as go\nfigure = go.Figure(go.Scatter(x=x, y=y))\nfigure', /scatter, 500 points, x 0…499/],
  'a page of Plotly': [
    'from IPython.display import HTML\nHTML(figure.to_html(include_plotlyjs="cdn", full_html=False))',
    /scatter, 500 points, x 0…499/,
  ],
  'Plotly with its library': ['HTML(figure.to_html(full_html=False))', /scatter, 500 points, x 0…499/],
  altair: [
    'import altair as alt\nalt.Chart(alt.Data(values=[{"a": int(a), "b": float(b)} for a, b in zip(x, y)])).mark_line().encode(x="a:Q", y="b:Q")',
    /Vega-Lite chart, line, 500 rows/,
  ],
  'Altair, as data': ['alt.renderers.enable("mimetype")\nalt.Chart(alt.Data(values=[{"a": 1}])).mark_bar().encode(x="a:Q")', /bar, 1 rows/],
  bokeh: [
    'from bokeh.plotting import figure, show\nfrom bokeh.io import output_notebook\noutput_notebook()\np = figure()\np.line(x, y)\nshow(p)',
    /Line: x 500 values, y 500 values/,
  ],
};

/** Both of Python's packages and of those of JavaScript. */
const script = /<script|function ?\(|=>|\bvar |newPlot|vegaEmbed\(|docs_json/;

describe("what an agent gets of charts as Python's packages put them out, where there is no browser", () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebook-answers-'));
  let host: NotebookHost;
  beforeAll(async () => {
    const python = await pythonWith(['plotly', 'altair', 'bokeh', 'numpy', 'vl-convert-python', 'ipykernel', 'jupyter_client']);
    host = createNotebookHost({ file: join(folder, 'analysis.ipynb'), kernel: createJupyterKernel({ python, folder }), headless: false });
    await host.start();
    await host.callTool('run_code', { code: frame });
  }, 180_000);
  afterAll(async () => {
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async (name: string, args: object) => {
    const { content } = await host.callTool(name, args);
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const pictures = content.flatMap((block) => (block.type === 'image' ? [readImageFacts(block.data)] : []));
    return { text, pictures };
  };

  it.for(Object.entries(cells))('%s: a summary, and no script', { timeout: 120_000 }, async ([name, [code, says]]) => {
    const { text, pictures } = await call('run_code', { code });
    expect(text).toMatch(says);
    const { newCellId: cellId, outputs } = JSON.parse(text) as { newCellId: string; outputs: unknown[] };
    const answers = [text, (await call('get_cells', { cellId, includeOutputs: true })).text];
    for (const outputIndex of outputs.keys()) answers.push((await call('get_output', { cellId, outputIndex })).text);
    for (const answer of answers) {
      expect(answer.replace(code, '')).not.toMatch(script);
      expect(encode(answer).length).toBeLessThan(2000);
    }
    for (const output of outputs) expect(encode(JSON.stringify(output)).length).toBeLessThanOrEqual(200);
    // vl-convert draws in the kernel what is of Vega.
    expect(pictures.length, text).toBe(/altair/i.test(name) ? 1 : 0);
    for (const picture of pictures) expect(picture).toMatchObject({ format: 'PNG', isWhole: true });
  });
});

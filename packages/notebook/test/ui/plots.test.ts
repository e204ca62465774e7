import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/drives-browser.mjs';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import type { Output } from '../../src/kernel/kernel.js';
import { findChromium, Stage } from './support/browser.js';

/** What the libraries themselves put out for a notebook without a network. */
const program = `
import json, sys
cells = [[]]
def put(data, metadata=None, **_):
    cells[-1].append({"output_type": "display_data", "data": data, "metadata": metadata or {}})

import plotly.io as pio, plotly.graph_objects as go, plotly.io._base_renderers as renderers
renderers.ipython_display = type("D", (), {"display_html": staticmethod(lambda html, raw=True: put({"text/html": html})), "display": None})
pio.renderers["notebook"].activate()
figure = go.Figure(go.Scatter(x=[1, 2, 3], y=[3, 1, 2], name="plotly line"))
cells.append([])
put(pio.renderers["notebook"].to_mimebundle(json.loads(figure.to_json())))

import altair as alt
cells.append([])
chart = alt.Chart(alt.Data(values=[{"a": 1, "b": 2}, {"a": 2, "b": 5}])).mark_line().encode(x="a:Q", y="b:Q")
put({"text/html": chart.to_html(inline=True)})

import bokeh.io.notebook as notebook
cells.append([])
notebook.publish_display_data = lambda data, metadata=None, **more: put(data, metadata)
from bokeh.plotting import figure as bokeh_figure
from bokeh.io import output_notebook, show
from bokeh.resources import INLINE
output_notebook(INLINE)
cells.append([])
plot = bokeh_figure(width=300, height=200)
plot.line([1, 2, 3], [3, 1, 2])
show(plot)
json.dump(cells, sys.stdout)
`;

describe('charts of Python libraries', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('are drawn in a trusted notebook: Plotly, Altair and Bokeh', { ...drivesBrowser, timeout: 600_000 }, async () => {
    const python = await pythonWith(['plotly', 'altair', 'bokeh', 'vl-convert-python', 'ipython']);
    const cells = JSON.parse(await runPython(python, ['-c', program])) as Output[][];
    const host = await stage.host({ cells: cells.map((outputs) => ({ source: '', outputs })), outputsTrusted: true });
    const { page, faults } = await stage.window(host);
    const drawn = async (selector: string) => {
      for (const cell of await page.locator('.cell').all()) await cell.scrollIntoViewIfNeeded();
      const counts = await Promise.all(page.frames().map((frame) => frame.locator(selector).count()));
      return Math.max(...counts);
    };
    await expect.poll(() => drawn('.js-plotly-plot svg .scatterlayer path.js-line'), { timeout: 60_000 }).toBeGreaterThan(0);
    await expect.poll(() => drawn('.vega-embed :is(canvas, svg).marks'), { timeout: 60_000 }).toBeGreaterThan(0);
    await expect.poll(() => drawn('canvas.bk-layer, .bk-Figure, div[data-root-id] > *'), { timeout: 60_000 }).toBeGreaterThan(0);
    // MathJax, which Plotly would load for formulas in titles: the policy refuses it, and the test's browser reports the attempt.
    expect(faults.filter((fault) => !/Content Security Policy|ERR_|^request: .*mathjax/.test(fault))).toEqual([]);
  });
});

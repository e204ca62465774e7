// @module-tag deep
// @module-tag P-663
// @module-tag P-666

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { createNotebookHost } from '../../src/host/notebook-host.js';
import { createJupyterKernel } from '../../src/kernel/jupyter/jupyter-kernel.js';
import { Stage } from './support/browser.js';
import { builtUi } from './support/built-ui.js';

/** Code as people write it, without a setting, and what its chart is made of. */
const cells: readonly (readonly [code: string, drawn: string])[] = [
  ['import plotly.graph_objects as go\nfigure = go.Figure(go.Scatter(x=[1, 2, 3], y=[3, 1, 2]))\nfigure', '.js-plotly-plot path.js-line'],
  ['from IPython.display import HTML\nHTML(figure.to_html(include_plotlyjs="cdn", full_html=False))', '.js-plotly-plot path.js-line'],
  [
    'import altair as alt\nalt.Chart(alt.Data(values=[{"a": 1, "b": 2}, {"a": 2, "b": 5}])).mark_line().encode(x="a:Q", y="b:Q")',
    '.vega-embed :is(canvas, svg).marks',
  ],
  [
    'from bokeh.plotting import figure, show\nfrom bokeh.io import output_notebook\noutput_notebook()\np = figure(width=300, height=200)\np.line([1, 2, 3], [3, 1, 2])\nshow(p)',
    '.bk-Figure, div[data-root-id] > *',
  ],
];

describe('charts of Python packages', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('are drawn as these put them out, without a network, and an agent sees them', { ...drivesBrowser, timeout: 600_000 }, async () => {
    const python = await pythonWith(['plotly', 'altair', 'bokeh', 'ipykernel', 'jupyter_client']);
    const folder = mkdtempSync(join(tmpdir(), 'notebook-charts-'));
    const kernel = createJupyterKernel({ python, folder });
    const host = createNotebookHost({ file: join(folder, 'analysis.ipynb'), kernel, uiFolder: await builtUi() });
    onTestFinished(async () => {
      await stage.clear();
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await host.start();
    const { page, faults } = await stage.window(host);
    for (const [code, drawn] of cells) {
      const { content } = await host.callTool('run_code', { code });
      expect(
        content.map(({ type }) => type),
        JSON.stringify(content[0]).slice(0, 1000),
      ).toContain('image');
      await page.locator('.cell').last().scrollIntoViewIfNeeded();
      const count = async () => {
        const frame = await (await page.locator('.cell').last().locator('.sandboxed-frame').last().elementHandle())?.contentFrame();
        return (await frame?.locator(drawn).count()) ?? 0;
      };
      await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(0);
    }
    expect(faults).toEqual([]);
  });
});

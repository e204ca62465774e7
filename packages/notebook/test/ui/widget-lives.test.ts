// @module-tag deep

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { NotebookHost } from '../../src/host/notebook-host.js';
import { Stage } from './support/browser.js';
import { rich } from './support/hostile-outputs.js';
import { askKernel, clearCells, closeWidgetHost, frameOf, openWidgetHost, rerun, run, waitForValue } from './support/widgets.js';

const slow = { ...drivesBrowser, timeout: 120_000 };
const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';
const person = { by: { kind: 'person' as const, name: 'a test' } };
const widget = (text: string, modelId = 'a1') =>
  rich({ 'application/vnd.jupyter.widget-view+json': { version_major: 2, version_minor: 0, model_id: modelId }, 'text/plain': text });
/** Pictures for people: a folder for them. */
const shots = process.env.NOTEBOOK_SHOTS;

describe('widgets, and what becomes of them', () => {
  beforeEach(({ skip }) => skip(!findChromium(), noBrowser));
  const stage = new Stage();
  let host: NotebookHost;
  beforeAll(async () => {
    host = await openWidgetHost();
  }, 600_000);
  afterEach(async () => {
    await stage.clear();
    clearCells(host);
  });
  afterAll(async () => {
    await closeWidgetHost(host);
    await stage.close();
  });

  it('live without a word of a person, and what draws them is loaded when one is drawn', { ...slow, tags: ['P-253'] }, async () => {
    const { page, faults } = await stage.window(host);
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
    const { cellId } = await run(host, 'slider = w.IntSlider(value=3)\nslider');
    const frame = await frameOf(page, cellId);
    expect(fetched.filter((path) => /widgets/.test(path))).toEqual([expect.stringMatching(/^\/live-widgets-/), '/widgets.html']);
    await frame.locator('.noUi-handle').click();
    await page.keyboard.press('ArrowRight');
    await waitForValue(host, 'slider.value', '4');
    expect(faults).toEqual([]);
  });

  it('come back after a reload as they are now, and say so when their kernel is gone', { ...slow, tags: ['deep', 'P-252'] }, async () => {
    const { cellId } = await run(host, 'text = w.Text("before")\ntext');
    const { page, faults } = await stage.window(host);
    await (await frameOf(page, cellId)).locator('input').fill('by hand');
    await waitForValue(host, 'text.value', "'by hand'");
    await page.reload();
    const frame = await frameOf(page, cellId);
    await expect.poll(() => frame.locator('input').inputValue()).toBe('by hand');
    await frame.locator('input').fill('again');
    await waitForValue(host, 'text.value', "'again'");

    await host.session.restart(person);
    const gone = 'The kernel of this widget is gone, or has forgotten it. Run the cell again.';
    await page.getByText(gone).waitFor();
    await page.locator('.widget-output', { hasText: "Text(value='before')" }).waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    await page.reload();
    await page.getByText(gone).waitFor();
    await run(host, 'import ipywidgets as w, time\nfrom IPython.display import display');
    await rerun(host, cellId);
    await expect.poll(async () => (await frameOf(page, cellId)).locator('input').inputValue()).toBe('before');
    expect(faults).toEqual([]);
  });

  it('join again when the connection was lost', { ...slow, tags: ['deep', 'P-252'] }, async () => {
    const { cellId } = await run(host, 'number = w.IntText(1)\nnumber');
    const { page } = await stage.window(host, {}, () => {
      const { WebSocket } = window;
      Object.assign(window, {
        WebSocket: class extends WebSocket {
          constructor(url: string, protocol: string) {
            super(url, protocol);
            Object.assign(window, { drop: () => this.close() });
          }
        },
      });
    });
    await frameOf(page, cellId);
    await page.evaluate(() => (window as unknown as { drop: () => void }).drop());
    await run(host, 'number.value = 2');
    await expect.poll(async () => (await frameOf(page, cellId)).locator('input').inputValue()).toBe('2');
    await (await frameOf(page, cellId)).locator('input').click();
    await page.keyboard.press('ArrowUp');
    await waitForValue(host, 'number.value', '3');
  });

  it('widgets of packages with code of their own are named, and what stands beside them works', {
    ...slow,
    tags: ['deep', 'P-254'],
  }, async () => {
    const { cellId } = await run(
      host,
      `
from traitlets import Unicode
class Drawing(w.DOMWidget):
    _model_name, _model_module = Unicode("AnyModel").tag(sync=True), Unicode("anywidget").tag(sync=True)
    _view_name, _view_module = Unicode("AnyView").tag(sync=True), Unicode("anywidget").tag(sync=True)
    _anywidget_id = Unicode("drawdata.Scatter").tag(sync=True)
    _esm = Unicode("document.body.textContent = 'pwned'").tag(sync=True)
beside = w.IntText(1)
w.VBox([Drawing(), beside])`,
    );
    const { page, faults } = await stage.window(host);
    const frame = await frameOf(page, cellId);
    await frame.getByText('The widget “drawdata.Scatter” of the package “anywidget” cannot be shown here').waitFor();
    await frame.locator('input').click();
    await page.keyboard.press('ArrowUp');
    await waitForValue(host, 'beside.value', '2');
    expect(faults).toEqual([]);
  });

  it('show HTML in which nothing runs, whatever it holds', { ...slow, tags: ['deep'] }, async () => {
    const { cellId } = await run(
      host,
      `
target = w.IntText(0)
bad = """<p id=seen>seen</p><script>parent.postMessage({type:'call',call:1,commId:'%s',data:{method:'update',state:{value:66}},buffers:[]}, '*')</script>
<img src=x onerror="document.title='pwned'"><iframe srcdoc="<script>top.pwned=1</script>"></iframe><svg onload="document.title='pwned'"></svg>
<a href="javascript:document.title='pwned'" id=link>link</a><form action="http://127.0.0.1:9/" ><button id=go>go</button></form>""" % target.comm.comm_id
out = w.Output()
with out:
    from IPython.display import HTML
    display(HTML(bad))
w.VBox([w.HTML(bad), w.IntSlider(description="<img src=x onerror=document.title='pwned'>", description_allow_html=True), target, out])`,
    );
    const { page } = await stage.window(host);
    const frame = await frameOf(page, cellId);
    await frame.locator('#seen').first().waitFor();
    await frame.getByText('Scripts do not run within a widget.').waitFor();
    await frame.locator('#link').first().click();
    await frame.locator('#go').first().click();
    await run(host, 'target.value = 7');
    await expect.poll(() => frame.locator('input[type="number"]').inputValue()).toBe('7');
    expect(await frame.title()).toBe('Widgets');
    expect(await frame.locator('iframe').count()).toBe(0);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(await askKernel(host, 'target.value')).toBe('7');
  });

  it('fit 360 pixels and follow the theme', { ...slow, tags: ['deep'] }, async () => {
    const { cellId } = await run(
      host,
      `
wide = [w.IntSlider(description="a slider"), w.Dropdown(options=["one", "two"]), w.Text(description="words"), w.IntProgress(value=5, max=9),
  w.HBox([w.Button(description="Run", icon="check", button_style="primary"), w.Button(description="Stop"), w.Button(description="More"), w.ToggleButton(description="On")]),
  w.Tab([w.Label("in a tab"), w.Label("another")], titles=("First", "Second"))]
w.VBox(wide)`,
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, faults } = await stage.window(host, { viewport: { width: 360, height: 800 }, colorScheme });
      const frame = await frameOf(page, cellId);
      await frame.getByText('in a tab').waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      const ink = () =>
        frame
          .locator('.widget-label')
          .first()
          .evaluate((label) => getComputedStyle(label).color);
      const [before, light] = [await ink(), 'rgb(29, 33, 38)'];
      expect(before === light).toBe(colorScheme === 'light');
      if (shots !== undefined) await page.screenshot({ path: `${shots}/widgets-${colorScheme}.png` });
      await page.evaluate((next) => Object.assign(document.documentElement.dataset, { theme: next }), before === light ? 'dark' : 'light');
      await expect.poll(ink).not.toBe(before);
      expect(faults).toEqual([]);
    }
  });

  it('are text in a page that is exported', { ...slow, tags: ['deep', 'P-253'] }, async () => {
    await run(host, 'w.IntSlider(value=12)');
    const { page } = await stage.window(host);
    await page.locator('iframe').waitFor();
    await page.getByRole('button', { name: 'Notebook menu' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /HTML/ }).click()]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const html = Buffer.concat(chunks).toString('utf8');
    // What it shows, as an agent reads it.
    expect(html).toContain('<div class="widget-output"><pre class="plain-output">12</pre>');
    expect(html).not.toMatch(/<iframe|Trust this notebook|Run the cell again/);
  });
});

describe('widgets without a kernel that has them', () => {
  beforeEach(({ skip }) => skip(!findChromium(), noBrowser));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('are text, and the line below says what they need', { ...slow, tags: ['deep', 'P-253'] }, async () => {
    const host = await stage.host({ cells: [{ source: '', outputs: [widget('IntSlider(value=3)')] }], outputsTrusted: true });
    const { page, faults } = await stage.window(host);
    await page.getByText('IntSlider(value=3)').waitFor();
    await page.getByText('Widgets need a Python with ipykernel, and this kernel is none').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    expect(host.fetched.filter((path) => path === '/widgets.html')).toEqual([]);
    expect(faults).toEqual([]);
  });
});

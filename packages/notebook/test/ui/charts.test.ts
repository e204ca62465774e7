// @module-tag deep

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { createNotebookHost, type NotebookHost } from '../../src/host/notebook-host.js';
import type { Output } from '../../src/model/output.js';
import { readImageFacts } from '../../src/outputs/image-facts.js';
import { Stage, textOf } from './support/browser.js';
import { builtUi } from './support/built-ui.js';
import { rich } from './support/hostile-outputs.js';
import { type Scenes, ToyKernel } from './support/toy-kernel.js';

const slow = { ...drivesBrowser, timeout: 120_000 };
const figure = { data: [{ type: 'bar', name: 'bars', x: ['a', 'b'], y: [1, 2] }], layout: { title: { text: 'Bars' } } };
const vegaLite = {
  data: {
    values: [
      { a: 1, b: 2 },
      { a: 2, b: 5 },
    ],
  },
  mark: 'line',
  encoding: { x: { field: 'a', type: 'quantitative' }, y: { field: 'b', type: 'quantitative' } },
};
/** As the packages write their pages, with libraries at addresses of the network. */
const plotlyPage = `<div><script charset="utf-8" src="https://cdn.plot.ly/plotly-3.7.0.min.js" integrity="sha256-x" crossorigin="anonymous"></script><div id="p" style="height: 300px"></div><script>Plotly.newPlot("p", ${JSON.stringify(figure.data)}, {"title": "Of a page"})</script></div>`;
const altairPage = (version: number) => `<div id="v${version}"></div><script>(function (spec) {
  const paths = ["https://cdn.jsdelivr.net/npm/vega@${version}?noext", "https://cdn.jsdelivr.net/npm/vega-lite@${version}.4.1?noext", "https://cdn.jsdelivr.net/npm/vega-embed@${version + 1}?noext"];
  const next = () => paths.length === 0 ? vegaEmbed("#v${version}", spec) : new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { async: true, onload: resolve, onerror: reject });
    document.head.appendChild(script);
    script.src = paths.shift();
  }).then(next);
  next();
})(${JSON.stringify(vegaLite)})</script>`;
const foliumPage = `<!DOCTYPE html><html><head><script src="https://cdn.jsdelivr.net/npm/leaflet@1.9.3/dist/leaflet.js"></script><script src="https://code.jquery.com/jquery-3.7.1.min.js"></script><script src="https://cdnjs.cloudflare.com/ajax/libs/Leaflet.awesome-markers/2.0.2/leaflet.awesome-markers.js"></script>${[
  'https://cdnjs.cloudflare.com/ajax/libs/d3/3.5.5/d3.min.js',
  'https://cdnjs.cloudflare.com/ajax/libs/leaflet.markercluster/1.1.0/leaflet.markercluster.js',
  'https://cdn.jsdelivr.net/gh/python-visualization/folium@main/folium/templates/leaflet_heat.min.js',
  'https://cdn.jsdelivr.net/npm/leaflet.fullscreen@3.0.0/Control.FullScreen.min.js',
]
  .map((address) => `<script src="${address}"></script>`)
  .join('')}<style>html, body, #map { width: 100%; height: 100%; margin: 0 }</style></head><body><div id="map"></div></body><script>
const map = L.map("map", {center: [52.5, 13.4], zoom: 12});
L.tileLayer("https://tile.openstreetmap.org/{z}/{x}/{y}.png").addTo(map);
const pin = L.marker([52.52, 13.4], {icon: L.AwesomeMarkers.icon({markerColor: "red"})}).addTo(map);
pin.bindPopup(L.popup().setContent($("<div>Berlin</div>")[0]));
L.markerClusterGroup({}).addTo(map).addLayers([L.marker([52.48, 13.3]), L.marker([52.48, 13.3])]);
L.heatLayer([[52.5, 13.4, 1]]).addTo(map);
L.control.fullscreen({position: "topleft"}).addTo(map);
map.addControl(new L.Control.MiniMap(L.tileLayer("https://tile.openstreetmap.org/{z}/{x}/{y}.png"), {}));
const key = L.control({position: "topright"});
key.onAdd = () => L.DomUtil.create("div", "legend");
key.addTo(map);
d3.select(".legend.leaflet-control").append("svg").append("g").call(d3.svg.axis().scale(d3.scale.linear().domain([0, 9])));
L.circle([52.5, 13.4], {radius: 1500}).addTo(map);
</script></html>`;
const folium = `<div><span>Make this Notebook Trusted to load map: File -> Trust Notebook</span><iframe srcdoc="${foliumPage.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" style="position:absolute" allowfullscreen></iframe></div>`;

const charts: { readonly [word: string]: Output } = {
  plotly: rich({ 'application/vnd.plotly.v1+json': figure, 'text/plain': 'Figure()' }),
  vega: rich({ 'application/vnd.vegalite.v5+json': vegaLite, 'text/plain': '<VegaLite object>' }),
  plotlyPage: rich({ 'text/html': plotlyPage, 'text/plain': 'Figure()' }),
  altair5: rich({ 'text/html': altairPage(5), 'text/plain': 'alt.Chart(...)' }),
  altair6: rich({ 'text/html': altairPage(6), 'text/plain': 'alt.Chart(...)' }),
  folium: rich({ 'text/html': folium, 'text/plain': '<folium.folium.Map>' }),
};
const shown: { readonly [word: string]: string } = {
  plotly: '.js-plotly-plot .barlayer .point',
  plotlyPage: '.js-plotly-plot .barlayer .point',
  vega: '.vega-embed :is(canvas, svg).marks',
  altair5: '.vega-embed :is(canvas, svg).marks',
  altair6: '.vega-embed :is(canvas, svg).marks',
  folium: '.leaflet-container path.leaflet-interactive',
};
const scenes: Scenes = Object.fromEntries(Object.entries(charts).map(([word, output]) => [word, () => [output]]));

describe('charts', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const portions = [
    { what: 'data and a page', words: ['vega', 'folium'], pictures: ['Vega-Lite', 'Map'], tags: [] },
    {
      what: 'all',
      words: Object.keys(charts),
      pictures: ['Plotly', 'Vega-Lite', 'Plotly', 'Vega-Lite', 'Vega-Lite', 'Map'],
      tags: ['deep'],
    },
  ];
  for (const { what, words, pictures: expected, tags } of portions)
    it(`of runs are drawn without a network and a word of a person, and exported as pictures: ${what}`, {
      ...slow,
      tags: [...tags, 'P-663', 'P-667'],
    }, async () => {
      const host = await stage.realHost({ file: undefined, scenes });
      const { page, faults } = await stage.window(host);
      for (const word of words) {
        const cellId = await run(host, word);
        await (await frameOf(page, cellId))
          .locator(shown[word] ?? '')
          .first()
          .waitFor({ state: 'attached' });
      }
      expect(await page.getByRole('button', { name: 'Trust this notebook' }).count()).toBe(0);
      await page.getByText('The tiles of this map come from the network').waitFor();
      await page.getByText('Not loaded, since outputs have no network: Control.FullScreen.min.js. What needs it is missing.').waitFor();
      const map = page.frames().at(-1);
      for (const part of ['.marker-cluster', 'canvas.leaflet-heatmap-layer', '.legend svg .tick'])
        expect(await map?.locator(part).count(), part).toBeGreaterThan(0);
      expect(faults.filter(isFault)).toEqual([]);
      await page.getByRole('button', { name: 'Notebook menu' }).click();
      const choose = page.getByRole('menuitem', { name: 'Export as HTML' }).click();
      const [download] = await Promise.all([page.waitForEvent('download', { timeout: 60_000 }), choose]);
      const html = await textOf(download);
      const pictures = [...html.matchAll(/<img class="image-output" src="data:image\/png;base64,([^"]+)" alt="(\S+)/g)];
      expect(pictures.map(([, , about]) => about)).toEqual(expected);
      for (const [, png = ''] of pictures) expect(readImageFacts(png)?.height).toBeGreaterThan(150);
      expect(html).not.toMatch(/<script|<iframe/);
      expect(html).toContain('The tiles of this map come from the network');
    });

  it('of a file that are pages wait for a word of a person; those that are data do not', { ...slow, tags: ['deep', 'P-235'] }, async () => {
    const host = await stage.host({
      cells: ['plotly', 'altair6', 'folium'].map((word) => ({ source: word, outputs: scenes[word]?.('') ?? [] })),
    });
    const { page, faults } = await stage.window(host);
    await (await frameOf(page, 'cell-0'))
      .locator(shown.plotly ?? '')
      .first()
      .waitFor({ state: 'attached' });
    expect(await page.locator('iframe').count()).toBe(1);
    await page.getByRole('button', { name: 'Trust this notebook' }).first().click();
    await (await frameOf(page, 'cell-2'))
      .locator(shown.folium ?? '')
      .first()
      .waitFor({ state: 'attached' });
    expect(faults.filter(isFault)).toEqual([]);
  });

  it('that cannot be drawn say so', { ...slow, tags: ['deep'] }, async () => {
    const outputs = [
      rich({ 'application/vnd.vegalite.v5+json': { ...vegaLite, data: { url: 'https://data.example/cars.json' } } }),
      rich({ 'application/vnd.plotly.v1+json': { data: 5, layout: [] } }),
      rich({ 'application/vnd.vegalite.v5+json': { mark: {} } }),
      rich({ 'application/vnd.plotly.v1+json': { data: [{ type: 'scattergeo', lat: [52.5], lon: [13.4] }] } }),
    ];
    const host = await stage.host({ cells: [{ source: '', outputs }], outputsTrusted: true });
    const { page } = await stage.window(host);
    await page.getByText('The data of this chart is at https://data.example/cars.json, which is not loaded here').waitFor();
    await page.getByText('points stand on blank ground').waitFor();
    const count = async (selector: string) =>
      (await Promise.all(page.frames().map((frame) => frame.locator(selector).count()))).reduce((a, b) => a + b);
    await expect.poll(() => count('text=cannot be drawn')).toBe(1);
    await expect.poll(() => count('.scattergeo path.point')).toBe(1);
  });

  it('come as pictures to an agent: from a window, or from one that nobody sees', { ...slow, tags: ['deep', 'P-666'] }, async () => {
    const seen = await stage.realHost({ file: undefined, scenes });
    await stage.window(seen);
    expect(await pictureOf(seen, 'altair6')).toMatchObject({ width: expect.any(Number), isWhole: true });

    const host = await openUnseen();
    const picture = await pictureOf(host, 'folium');
    expect(picture).toMatchObject({ width: 800, height: 480 });
    expect(host.openWindows).toBe(0);
    const [, ...rest] = await processesOf(host);
    expect(rest).toEqual([]);
    await host.close();
    expect(await processesOf(host)).toEqual([]);
  });
});

/** A plugin that is not here is looked for, and the policy refuses it. */
const isFault = (fault: string) => !/Control\.FullScreen/.test(fault);

const unseen = new WeakMap<NotebookHost, string>();

async function openUnseen(): Promise<NotebookHost> {
  const host = createNotebookHost({ kernel: new ToyKernel(scenes), uiFolder: await builtUi(), headless: findChromium() });
  onTestFinished(() => host.close());
  await host.start();
  unseen.set(host, `localhost:${host.port}/?unseen`);
  return host;
}

/** The browser that was started with an address of this host. */
async function processesOf(host: NotebookHost): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(unseen.get(host) ?? '?') && !line.includes('--type='));
}

async function run(host: NotebookHost, code: string): Promise<string> {
  const { content } = await host.callTool('run_code', { code });
  return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}').newCellId;
}

async function pictureOf(host: NotebookHost, code: string) {
  const { content } = await host.callTool('run_code', { code });
  const image = content.find(({ type }) => type === 'image');
  return image?.type === 'image' ? readImageFacts(image.data) : content;
}

async function frameOf(page: Page, cellId: string): Promise<Frame> {
  const cell = page.locator(`.cell[data-cell-id="${cellId}"]`);
  await cell.scrollIntoViewIfNeeded();
  const element = cell.locator('.sandboxed-frame').first();
  await element.waitFor();
  const frame = await (await element.elementHandle())?.contentFrame();
  if (!frame) throw new Error('The chart has no frame.');
  return frame;
}

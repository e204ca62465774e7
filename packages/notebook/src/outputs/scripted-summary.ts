import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { MimeBundle } from '../model/output.js';
import { toText } from '../model/text.js';
import { type Chart, chartOf } from './chart-bundle.js';
import { jsonAt } from './chart-data.js';
import { describeBokeh, describeMap, describePlotly, describeVega } from './chart-summary.js';
import { pageWithin } from './page-within.js';

/** What a page or a script is about, in a few words: thousands of characters of code say nothing to who reads. Undefined for an output without any. */
export function describeScripted(bundle: MimeBundle): string | undefined {
  const chart = chartOf(bundle);
  if (chart) return chart.kind === 'plotly' ? describePlotly(chart.spec) : describeVega(chart.spec);
  if (bundle['application/vnd.bokehjs_load.v0+json'] !== undefined) return 'Script that charts of Bokeh below use';
  const html = textOf(bundle['text/html']);
  const within = pageWithin(html);
  const script = within?.page ?? (textOf(bundle['application/javascript']) || html);
  if (within?.address !== undefined) return `Page ${within.address.slice(0, 200)}`;
  if (!within && bundle['application/javascript'] === undefined && !/<script/i.test(html)) return undefined;
  const known = describeScript(script);
  if (known !== undefined) return known;
  const note = `HTML with scripts, ${script.length} characters`;
  // `<pkg.Thing object at 0x…>` says less than nothing.
  const plain = textOf(bundle['text/plain']);
  return plain === '' || /^<.*>$/s.test(plain) ? note : `${plain}\n${note}`;
}

/** The chart of an output that is data, or page of Altair. */
export function chartIn(bundle: MimeBundle): Chart | undefined {
  const chart = chartOf(bundle);
  if (chart) return chart;
  const spec = vegaSpecOf(textOf(bundle['text/html']));
  return spec && { kind: Object.hasOwn(spec, 'marks') ? 'vega' : 'vega-lite', type: 'text/html', spec };
}

function vegaSpecOf(script: string): JsonObject | undefined {
  const found = script.includes('vegaEmbed') ? /\}\)\((?=\{")/.exec(script) : null;
  const spec = found ? jsonAt(script, found.index + found[0].length) : undefined;
  return isJsonObject(spec) ? spec : undefined;
}

function describeScript(script: string): string | undefined {
  const plotly = /Plotly\.newPlot\(\s*["'][^"']*["'],\s*(?=\[)/.exec(script);
  if (plotly) {
    const from = plotly.index + plotly[0].length;
    return describePlotly({ data: jsonAt(script, from), layout: layoutBehind(script, from) });
  }
  const spec = vegaSpecOf(script);
  if (spec) return describeVega(spec);
  const bokeh = /docs_json = (?=\{)/.exec(script);
  const documents = bokeh ? jsonAt(script, bokeh.index + bokeh[0].length) : undefined;
  if (isJsonObject(documents)) return describeBokeh(documents);
  // Libraries have calls of this name, too, and none with the element's id.
  return /\bL\.map\(\s*["']/.test(script) ? describeMap(script) : undefined;
}

/** The layout is the object behind the list of traces. */
function layoutBehind(script: string, from: number): unknown {
  const at = /\],\s*(?=\{"(?:template|title|xaxis|yaxis|legend|margin|showlegend|height|width|barmode))/.exec(script.slice(from));
  return at ? jsonAt(script, from + at.index + at[0].length) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : Array.isArray(value) ? toText(value.map(String)) : '';
}

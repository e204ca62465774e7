import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { describeRange, shortText, valuesOf } from './chart-data.js';

/** What a summary may take, of which an agent's model reads about two characters as one token. */
const maxCharacters = 380;
const maxParts = 5;

/** A figure of Plotly: its traces with what they span, and its axes. */
export function describePlotly({ data, layout }: { readonly data?: unknown; readonly layout?: unknown }): string {
  const traces = Array.isArray(data) ? data.filter(isJsonObject) : [];
  const about = isJsonObject(layout) ? layout : {};
  const axes = ['xaxis', 'yaxis'].flatMap((axis) => {
    const text = titleOf(isJsonObject(about[axis]) ? about[axis] : {});
    return text === '' ? [] : [`${axis[0]} is ${quoted(text)}`];
  });
  const head = ['Plotly chart', titled(titleOf(about)), `${traces.length} trace${traces.length === 1 ? '' : 's'}`, ...axes];
  return listed(head, traces.map(describeTrace));
}

function describeTrace(trace: JsonObject): string {
  const parts = ['x', 'y', 'z', 'values', 'labels', 'locations', 'lat', 'lon'].flatMap((key) => {
    const values = valuesOf(trace[key]);
    return values && values.length > 0 && !Array.isArray(values[0]) ? [{ key, values }] : [];
  });
  const name = typeof trace.name === 'string' && trace.name !== '' ? ` ${quoted(trace.name)}` : '';
  const count = parts[0] ? `, ${parts[0].values.length} points` : '';
  return `${String(trace.type ?? 'scatter')}${name}${count}${parts.map(({ key, values }) => `, ${key} ${describeRange(values)}`).join('')}`;
}

/** A chart of Vega-Lite, or a whole specification of Vega: its marks, and what their channels show. */
export function describeVega(spec: JsonObject): string {
  const views = viewsOf(spec, 0);
  const marks = views.map((view) => (isJsonObject(view.mark) ? view.mark.type : view.mark)).filter((mark) => typeof mark === 'string');
  const rows = rowsOf(spec, views);
  const encodings = new Map(
    [spec, ...views].flatMap(({ encoding }) =>
      isJsonObject(encoding) ? Object.entries(encoding).filter(([, channel]) => isJsonObject(channel)) : [],
    ),
  );
  const channels = [...encodings].map(([channel, about]) => describeChannel(channel, about as JsonObject, rows));
  const kind = Object.hasOwn(spec, 'marks') ? 'Vega chart' : 'Vega-Lite chart';
  const head = [kind, titled(titleOf(spec)), [...new Set(marks)].join(' + '), ...(rows.length > 0 ? [`${rows.length} rows`] : [])];
  return listed(head, channels);
}

function describeChannel(channel: string, { field, type, aggregate, bin, timeUnit }: JsonObject, rows: readonly JsonObject[]): string {
  const of = [aggregate, timeUnit, bin ? 'bin' : undefined].filter((each) => typeof each === 'string').join(' ');
  const values = typeof field === 'string' ? rows.flatMap((row) => (Object.hasOwn(row, field) ? [row[field]] : [])) : [];
  const words = [channel, of, typeof field === 'string' ? quoted(field) : '', typeof type === 'string' ? `(${type})` : ''];
  return `${words.filter((word) => word !== '').join(' ')}${values.length > 0 ? ` ${describeRange(values)}` : ''}`;
}

/** Charts within charts: layers, and those side by side. */
function viewsOf(spec: JsonObject, depth: number): JsonObject[] {
  const inner = ['layer', 'concat', 'hconcat', 'vconcat', 'marks'].flatMap((key) =>
    Array.isArray(spec[key]) ? spec[key].filter(isJsonObject) : [],
  );
  const all = [...inner, ...(isJsonObject(spec.spec) ? [spec.spec] : [])];
  return depth > 4 ? [] : [...(Object.hasOwn(spec, 'mark') ? [spec] : []), ...all.flatMap((view) => viewsOf(view, depth + 1))];
}

function rowsOf(spec: JsonObject, views: readonly JsonObject[]): JsonObject[] {
  const { datasets } = spec;
  for (const { data } of [spec, ...views]) {
    if (!isJsonObject(data)) continue;
    const named = isJsonObject(datasets) && typeof data.name === 'string' ? datasets[data.name] : undefined;
    const values = data.values ?? named;
    if (Array.isArray(values)) return values.filter(isJsonObject);
  }
  return [];
}

/** What Bokeh shows, from the models of its document. */
export function describeBokeh(documents: JsonObject): string {
  const glyphs: string[] = [];
  const titles: string[] = [];
  const tables: string[] = [];
  const look = (value: unknown, depth: number): void => {
    if (depth > 40 || typeof value !== 'object' || value === null) return;
    const { type, name, attributes } = value as JsonObject;
    if (type === 'object' && isJsonObject(attributes)) {
      if (name === 'GlyphRenderer' && isJsonObject(attributes.glyph)) glyphs.push(describeGlyph(attributes.glyph, attributes.data_source));
      if (name === 'DataTable') tables.push(describeGlyph({ name }, attributes.source));
      if ((name === 'Title' || /Axis$/.test(String(name))) && typeof (attributes.text ?? attributes.axis_label) === 'string')
        titles.push(String(attributes.text ?? attributes.axis_label));
    }
    for (const each of Object.values(value)) look(each, depth + 1);
  };
  look(documents, 0);
  return listed(['Bokeh chart', titled(titles.join(', '))], [...glyphs, ...tables]);
}

function describeGlyph({ name }: JsonObject, source: unknown): string {
  const data = isJsonObject(source) && isJsonObject(source.attributes) ? source.attributes.data : undefined;
  const entries = isJsonObject(data) && Array.isArray(data.entries) ? data.entries : [];
  const columns = entries.flatMap((entry: unknown) => {
    const [column, list] = Array.isArray(entry) ? entry : [];
    const about = Array.isArray(list) ? describeRange(list) : describePacked(list);
    return about === undefined ? [] : [`${shortText(String(column), 20)} ${about}`];
  });
  return `${String(name)}${columns.length > 0 ? `: ${columns.slice(0, 4).join(', ')}` : ''}`;
}

/** An array of numpy, which Bokeh packs: how many values there are. */
function describePacked(list: unknown): string | undefined {
  if (!isJsonObject(list) || !Array.isArray(list.shape)) return undefined;
  const { array, shape } = list;
  return Array.isArray(array) ? describeRange(array) : `${shape.join(' × ')} values`;
}

const mapLayers =
  /\bL\.(marker|circleMarker|circle|polyline|polygon|rectangle|geoJson|geoJSON|heatLayer|markerClusterGroup|imageOverlay)\(/g;

/** A map of Leaflet, from the script that draws it. */
export function describeMap(page: string): string {
  const kinds = new Map<string, number>();
  for (const [, kind = ''] of page.matchAll(mapLayers)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const center = /center:\s*\[([-\d.]+),\s*([-\d.]+)\]/.exec(page);
  const zoom = /"?zoom"?:\s*(\d+)/.exec(page)?.[1];
  const head = ['Map (Leaflet)', center ? `center ${center[1]}, ${center[2]}` : '', zoom === undefined ? '' : `zoom ${zoom}`];
  return listed(
    head,
    [...kinds].map(([kind, count]) => `${count} × ${kind}`),
  );
}

function titleOf({ title }: JsonObject): string {
  const text = isJsonObject(title) ? title.text : title;
  return typeof text === 'string' ? text : '';
}

function titled(text: string): string {
  return text === '' ? '' : quoted(text);
}

function quoted(text: string): string {
  return `"${shortText(text.replace(/\s+/g, ' '), 40)}"`;
}

function listed(head: readonly string[], parts: readonly string[]): string {
  const more = parts.length > maxParts ? [`… ${parts.length - maxParts} more`] : [];
  const lines = [head.filter((each) => each !== '').join(', '), ...parts.slice(0, maxParts).map((part) => shortText(part, 110)), ...more];
  return shortText(lines.join('\n'), maxCharacters);
}

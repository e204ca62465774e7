import type { Output } from '../../model/output.js';
import type { Chart } from '../../outputs/chart-bundle.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';

/** A chart that is data: a library of ours draws it apart from the window, so it needs no trust. */
export function chartOutput(output: Output, chart: Chart): HTMLElement {
  const place = el('div', { class: 'chart-output' });
  const missing = missingOf(chart);
  showPage(place, output);
  return missing === undefined ? place : el('div', {}, place, el('div', { class: 'removed' }, missing));
}

/** Puts the page of the output into the place when it is there, or why it is not. */
export function showPage(place: HTMLElement, output: Output): void {
  const load = async () => {
    const { pageContentOf, pageFrame } = await import('./page-frame.js');
    const content = await pageContentOf(output);
    if (content) place.replaceChildren(await pageFrame(content));
  };
  load().catch((error: unknown) => place.replaceChildren(cannotShow('This output', error)));
}

/** What a chart would load from the network to be whole. */
function missingOf({ kind, spec }: Chart): string | undefined {
  if (kind !== 'plotly') {
    const address = /"url":"(https?:[^"]{1,200})"/.exec(JSON.stringify(spec))?.[1];
    return (
      address && `The data of this chart is at ${address}, which is not loaded here: load it with Python, and give the chart the table.`
    );
  }
  const types = Array.isArray(spec.data) ? spec.data.map((trace: unknown) => String((trace as { type?: unknown } | null)?.type)) : [];
  if (types.some((type) => /(?:geo|^choropleth|map|mapbox)$/.test(type) && !/^(?:heat|tree)map$/.test(type)))
    return 'Plotly loads the ground of its maps, and the shapes of countries, from the network, which outputs do not have: points stand on blank ground. Shapes of your own geojson are drawn, and so are maps of folium.';
  return undefined;
}

import type { Chart } from '../../outputs/chart-bundle.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';

/** A chart that is data: a library of ours draws it apart from the window, so it needs no trust. */
export function chartOutput(chart: Chart): HTMLElement {
  const place = el('div', { class: 'chart-output' });
  const missing = missingOf(chart);
  showPage(place, () => import('./page-frame.js').then(({ pageFrame }) => pageFrame({ label: 'Chart', html: [], chart })));
  return missing === undefined ? place : el('div', {}, place, el('div', { class: 'removed' }, missing));
}

/** Puts the page into the place when it is there, or why it is not. */
export function showPage(place: HTMLElement, load: () => Promise<HTMLElement>): void {
  load().then(
    (page) => place.replaceChildren(page),
    (error: unknown) => place.replaceChildren(cannotShow('This output', error)),
  );
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
  if (types.some((type) => /map(?:box)?$/.test(type) && !/^(?:heat|tree)map$/.test(type)))
    return 'A map with tiles needs the network, which outputs do not have: scatter_geo and choropleth draw maps without one.';
  return undefined;
}

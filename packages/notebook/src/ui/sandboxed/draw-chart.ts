import type { Chart } from '../../outputs/chart-bundle.js';
import { runLibrary } from './page-libraries.js';

interface ChartGlobals {
  Plotly?: {
    newPlot(place: HTMLElement, figure: object): Promise<unknown>;
    addFrames(place: HTMLElement, frames: unknown): Promise<unknown>;
  };
  vegaEmbed?: (place: HTMLElement, spec: object, options: object) => Promise<unknown>;
}

/** Draws what the output holds as data, with a library of ours. What fails says so in the page. */
export async function drawChart({ kind, spec }: Chart): Promise<void> {
  const place = document.createElement('div');
  document.body.append(place);
  try {
    runLibrary(kind === 'plotly' ? 'plotly' : 'vega');
    if (kind === 'plotly') await drawPlotly(place, spec);
    else await (globalThis as ChartGlobals).vegaEmbed?.(place, spec, { mode: kind, actions: false });
  } catch (error) {
    const line = document.createElement('p');
    line.textContent = `This chart cannot be drawn: ${error instanceof Error ? error.message : String(error)}.`;
    document.body.append(line);
  }
}

async function drawPlotly(place: HTMLElement, { data, layout, config, frames }: { readonly [key: string]: unknown }): Promise<void> {
  const { Plotly } = globalThis as ChartGlobals;
  // A page that can save nothing has no button for it.
  const ways = { responsive: true, ...(config as object), displaylogo: false, modeBarButtonsToRemove: ['toImage'] };
  await Plotly?.newPlot(place, { data: data ?? [], layout: layout ?? {}, config: ways });
  if (frames !== undefined) await Plotly?.addFrames(place, frames);
}

import type { Chart } from '../../outputs/chart-bundle.js';
import type { Libraries } from '../outputs/chart-libraries.js';
import { confine } from './confine.js';
import { drawChart } from './draw-chart.js';
import { bringLibraries, inlineScripts, localAddress } from './page-libraries.js';
import { followHeight, keepHeight, onWindowMessage, sayToWindow } from './window-link.js';

/** From the window: what to show. Scripts and markup run in this order, a chart last. */
export interface ShowMessage {
  readonly type: 'show';
  readonly html: readonly string[];
  readonly chart?: Chart | undefined;
  readonly libraries: Libraries;
  /** Of a page that fills the height that it is given. Default: as high as what it shows. */
  readonly heightPx?: number | undefined;
}

const canShow = confine(localAddress);

const stop = onWindowMessage((data) => {
  if ((data as Partial<ShowMessage> | null)?.type !== 'show') return;
  stop();
  const { html, chart, libraries, heightPx } = data as ShowMessage;
  bringLibraries(libraries);
  if (heightPx !== undefined) keepHeight(heightPx);
  for (const each of html) {
    const fragment = document.createRange().createContextualFragment(each);
    inlineScripts(fragment);
    document.body.append(fragment);
  }
  if (chart) void drawChart(chart);
  if (heightPx === undefined) followHeight();
});

addEventListener('DOMContentLoaded', () => sayToWindow({ type: canShow ? 'ready' : 'unable' }));

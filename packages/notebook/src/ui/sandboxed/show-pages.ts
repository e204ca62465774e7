import type { Chart } from '../../outputs/chart-bundle.js';
import type { Libraries } from '../outputs/chart-libraries.js';
import { confine } from './confine.js';
import { drawChart } from './draw-chart.js';
import { bringLibraries, inlineScripts, localAddress } from './page-libraries.js';
import { takePicture } from './take-picture.js';
import { followHeight, keepHeight, onWindowMessage, sayToWindow } from './window-link.js';

/** From the window: what to show. Scripts and markup run in this order, a chart last. */
export interface ShowMessage {
  readonly type: 'show';
  readonly html: readonly string[];
  readonly chart?: Chart | undefined;
  readonly libraries: Libraries;
  /** Of a page that fills the height that it is given. Default: as high as what it shows. */
  readonly heightPx?: number | undefined;
  /** The window wants it as a picture. */
  readonly isPicture: boolean;
}

const canShow = confine(localAddress);

const stop = onWindowMessage((data) => {
  if ((data as Partial<ShowMessage> | null)?.type !== 'show') return;
  stop();
  const { html, chart, libraries, heightPx, isPicture } = data as ShowMessage;
  bringLibraries(libraries);
  // A map that is fitted into a page is fitted into the whole of it.
  if (heightPx === undefined) show(html, chart, isPicture);
  else keepHeight(heightPx, () => show(html, chart, isPicture));
});

function show(html: readonly string[], chart: Chart | undefined, isPicture: boolean): void {
  for (const each of html) {
    const fragment = document.createRange().createContextualFragment(each);
    inlineScripts(fragment);
    document.body.append(fragment);
  }
  const drawing = chart ? drawChart(chart) : Promise.resolve();
  if (isPicture)
    drawing.then(takePicture).then(
      (picture) => sayToWindow({ type: 'picture', picture }),
      () => sayToWindow({ type: 'picture', picture: '' }),
    );
  if (!document.documentElement.classList.contains('filled')) followHeight();
}

addEventListener('DOMContentLoaded', () => sayToWindow({ type: canShow ? 'ready' : 'unable' }));

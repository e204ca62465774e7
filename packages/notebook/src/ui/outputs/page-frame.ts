import type { Chart } from '../../outputs/chart-bundle.js';
import type { ShowMessage } from '../sandboxed/show-pages.js';
import { type Libraries, librariesOf } from './chart-libraries.js';
import { sandboxedFrame } from './sandboxed-frame.js';

export { readOfKernel } from './chart-libraries.js';

/** What an output shows in a page of its own. */
export interface PageContent {
  /** For screen readers. */
  readonly label: string;
  readonly html: readonly string[];
  readonly chart?: Chart | undefined;
  readonly heightPx?: number | undefined;
}

/** The page of an output, with the libraries that it would load from elsewhere. Rejects where one of them cannot be had. */
export async function pageFrame({ label, ...content }: PageContent): Promise<HTMLElement> {
  const message = await showMessage(content);
  return sandboxedFrame({ page: 'sandboxed.html', label, onReady: (frame) => frame.post(message) });
}

async function showMessage({ html, chart, heightPx }: Omit<PageContent, 'label'>): Promise<ShowMessage> {
  const libraries: Libraries = await librariesOf(html, chart ? [chart.kind === 'plotly' ? 'plotly' : 'vega'] : []);
  return { type: 'show', html, chart, libraries, heightPx };
}

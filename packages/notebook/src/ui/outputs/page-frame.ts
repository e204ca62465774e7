import type { Chart } from '../../outputs/chart-bundle.js';
import type { ShowMessage } from '../sandboxed/show-pages.js';
import { librariesOf } from './chart-libraries.js';
import { sandboxedFrame } from './sandboxed-frame.js';

/** What an output shows in a page of its own. */
export interface PageContent {
  /** For screen readers. */
  readonly label: string;
  readonly html: readonly string[];
  readonly chart?: Chart | undefined;
  readonly heightPx?: number | undefined;
}

/** The page of an output, with the libraries that it would load from elsewhere. Rejects where one of them cannot be had. `onPicture`: it is drawn to be one. */
export async function pageFrame({ label, ...content }: PageContent, onPicture?: (address: string) => void): Promise<HTMLElement> {
  const { html, chart } = content;
  const libraries = await librariesOf(html, chart ? [chart.kind === 'plotly' ? 'plotly' : 'vega'] : []);
  const message: ShowMessage = { type: 'show', ...content, libraries, isPicture: onPicture !== undefined };
  return sandboxedFrame({
    page: 'sandboxed.html',
    label,
    onReady: (frame) => frame.post(message),
    onMessage: (said) => onPicture?.(String((said as { picture?: unknown }).picture)),
  });
}

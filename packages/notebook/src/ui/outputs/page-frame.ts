import type { Output } from '../../model/output.js';
import { type Chart, chartOf } from '../../outputs/chart-bundle.js';
import type { ShowMessage } from '../sandboxed/show-pages.js';
import { librariesOf, readOfKernel } from './chart-libraries.js';
import { mayRun } from './host-requests.js';
import { pagesBefore, scriptsOf } from './output-scripts.js';
import { sandboxedFrame } from './sandboxed-frame.js';

/** What an output shows in a page of its own. */
export interface PageContent {
  /** For screen readers. */
  readonly label: string;
  readonly html: readonly string[];
  readonly chart?: Chart | undefined;
  readonly heightPx?: number | undefined;
}

/** What the output shows in a page of its own; undefined where it shows nothing that acts, or nothing of it may run. */
export function pageContentOf(output: Output): Promise<PageContent> | undefined {
  if (output.output_type !== 'display_data' && output.output_type !== 'execute_result') return undefined;
  const chart = chartOf(output.data);
  if (chart) return Promise.resolve({ label: 'Chart', html: [], chart });
  const scripts = scriptsOf(output.data);
  if (!scripts?.hasScript || scripts.isLibrary || !mayRun(output)) return undefined;
  const { page, path, heightPx } = scripts;
  // A page of its own brings all that it needs.
  const before = heightPx === undefined ? pagesBefore(output) : [];
  const whole = path === undefined ? Promise.resolve(page) : readOfKernel({ do: 'readPage', path });
  return whole.then((html) => ({ label: 'Output with scripts', html: [...before, html], heightPx }));
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

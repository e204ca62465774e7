import type { Output } from '../../model/output.js';
import { chartOf } from '../../outputs/chart-bundle.js';
import { readOfKernel } from './chart-libraries.js';
import { mayRun } from './host-requests.js';
import { pagesBefore, scriptsOf } from './output-scripts.js';
import type { PageContent } from './page-frame.js';

/** What the output shows in a page of its own; undefined where it shows nothing that acts, or nothing of it may run. */
export function pageContentOf(output: Output): Promise<PageContent> | undefined {
  if (output.output_type !== 'display_data' && output.output_type !== 'execute_result') return undefined;
  const chart = chartOf(output.data);
  if (chart) return Promise.resolve({ label: 'Chart', html: [], chart });
  const scripts = scriptsOf(output.data);
  if (!scripts?.hasScript || scripts.isLibrary || !mayRun(output)) return undefined;
  const { page: html, path, heightPx } = scripts;
  const load = async () => {
    const page = path === undefined ? html : await readOfKernel({ do: 'readPage', path });
    // A page of its own brings all that it needs.
    return { label: 'Output with scripts', html: [...(heightPx === undefined ? pagesBefore(output) : []), page], heightPx };
  };
  return load();
}

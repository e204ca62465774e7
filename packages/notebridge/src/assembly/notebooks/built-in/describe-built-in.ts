import { basename } from 'node:path';
import type { NotebookHost } from '@notebridge/notebook/host';
import type { NotebookDescription } from '../../../broker/shared-notebook.js';

/** The built-in notebook as agents and people are told of it. */
export function describeBuiltIn({ session: { kernel, kernelState } }: NotebookHost, file: string | undefined): NotebookDescription {
  const { name, version } = kernel.info;
  const title = file === undefined ? 'Notebook in memory' : basename(file);
  return { title, location: file ?? null, kernel: `${name} ${version}`.trim(), state: kernelState };
}

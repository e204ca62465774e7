import { createNotebookHost } from '@notebridge/notebook/host';
import { TinyKernel } from '../../../notebook/test/fixtures/tiny-kernel.js';
import { LayeredProvider } from '../../src/middleware/layered-provider.js';
import { LocalNotebook } from '../../src/notebooks/local/local-notebook.js';
import { ReadBeforeWriteMiddleware } from '../../src/notebooks/reads/read-before-write.js';
import type { NotebookKind, TextCell } from './notebook-kind.js';

const by = { kind: 'person', name: 'Ann' } as const;

/** The built-in notebook in memory, as a window's actions change it. */
export async function openBuiltInKind(): Promise<NotebookKind> {
  const host = createNotebookHost({ kernel: new TinyKernel() });
  await host.start();
  const { document } = host.session;
  const cells = (): TextCell[] => document.cells.map(({ id, source }) => ({ id, source }));
  let last = cells();
  const kind: NotebookKind = {
    provider: new LayeredProvider(new LocalNotebook({ host, writeAddress: async () => '' }), [new ReadBeforeWriteMiddleware()]),
    cells,
    person: {
      edit: (cellId, source) => document.update(cellId, source, { by }),
      add: (index, source) => void document.insert(index, { type: 'code', source }, { by }),
      remove: (cellId) => document.delete(cellId, { by }),
      move: (cellId, index) => document.move(cellId, index, { by }),
    },
    onAgentWrite: () => {},
    window: new Set(),
    [Symbol.asyncDispose]: () => host.close(),
  };
  document.onChange(({ change }) => {
    const now = cells();
    if (change.by.kind === 'agent') kind.onAgentWrite(last, now);
    last = now;
  });
  return kind;
}

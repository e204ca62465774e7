import type { NotebookHost } from '@notebridge/notebook/host';

/** What agents are told of the kernel at the handshake. Names come from files of this machine, so they are quoted and cut. */
export function describeKernel({ kernelChoice: choice, session }: Pick<NotebookHost, 'kernelChoice' | 'session'>): string {
  if (!choice) return ` Its kernel is ${quoted(session.kernel.info.displayName)}.`;
  const asks = choice.proposal ? ' The person has another one, and can put it in: get_notebook_info says how.' : '';
  if (choice.id === 'pyodide') return ` When you connected, its kernel was ${choice.isolation}${asks}`;
  return ` When you connected, its kernel was ${quoted(choice.displayName)}, of the user. ${choice.isolation} Its code begins in the folder of the notebook.${asks}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

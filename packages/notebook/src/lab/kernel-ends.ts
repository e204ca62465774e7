import { NotebookError } from '../model/errors.js';

/** How a cell ends whose kernel goes: what happened, and what to do. */
export const kernelEnds = {
  restarted: () => dead('The kernel was restarted while the cell ran: it died, or a person restarted it.'),
  notRestarted: () => dead('The kernel has died, and the server could not start it again. Call restart_kernel.'),
  shutDown: () => dead('The kernel was shut down, by a person or with its server. Call restart_kernel to start another one.'),
  exchanged: () => dead('Another kernel was chosen for the notebook while the cell ran.'),
  unreachable: () => dead('The Jupyter server does not answer any more. Start it, then call restart_kernel.'),
  refused: (why: string) => dead(why),
  unseen: () =>
    new NotebookError(
      'server_unreachable',
      'The connection to the kernel was lost while the cell ran, and its end was not seen. Its outputs may be incomplete.',
    ),
  closed: () => new NotebookError('closed', 'The notebook was closed while the cell ran.'),
};

function dead(what: string): NotebookError {
  return new NotebookError('kernel_dead', `${what} Its variables are gone.`);
}

import { basename } from 'node:path';
import type { LabNotebook, LabWorkspace } from '@notebridge/notebook/lab';
import type { WatchedNotebook, WatchedNotebooks } from '../../../notebooks/watched-notebooks.js';
import { watchSession } from '../watch-session.js';

const isolation = 'A kernel of a Jupyter server: its code has the files, packages and network of that server’s user.';

/** The notebooks of Jupyter servers that agents of this process use, for the owner of its hub. */
export function watchJupyter(workspace: LabWorkspace): WatchedNotebooks {
  const known = new WeakMap<LabNotebook, WatchedNotebook>();
  let last = 0;
  const toWatched = (notebook: LabNotebook): WatchedNotebook => ({
    id: `jupyter-${++last}`,
    describe: () => {
      const { session, address, path } = notebook;
      const { displayName, version } = session.kernel.info;
      const at = workspace.lastCallOf(notebook);
      return {
        kind: 'jupyter',
        title: basename(path),
        location: address,
        state: session.kernelState,
        kernel: `${displayName} ${version}`.trim(),
        isolation,
        windows: null,
        lastCall: at === undefined ? undefined : { at },
      };
    },
    ...watchSession(notebook.session),
  });
  return {
    list: async () =>
      (await workspace.openNotebooks()).map((notebook) => {
        const watched = known.get(notebook) ?? toWatched(notebook);
        known.set(notebook, watched);
        return watched;
      }),
    // A notebook is opened, and runs, in the course of calls, of which the owner is told anyway.
    subscribe: () => () => {},
  };
}

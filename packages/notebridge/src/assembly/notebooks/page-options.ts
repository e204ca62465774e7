import type { FolderAccess, SandboxMode } from '@notebridge/notebook/host';
import type { Environment } from '@notebridge/system/processes/environment';
import type { NotebookTerms } from '../../broker/notebook-terms.js';

/** How a notebook and its pages are reached. */
export interface PageOptions {
  /** Port that notebook pages dial, where there is no HTTP port; 0 for any free one. Default 0. */
  port?: number | undefined;
  /** Lists the notebook's tools always, or only while its page is connected. Default `static`. */
  list?: 'static' | 'dynamic' | undefined;
  /** False: never opens a browser; answers name the URL to open. Default true. */
  openBrowser?: boolean | undefined;
  /** False: cells of a Colab page are not read before a change, and changes cannot be undone. Default: as the config says. */
  journal?: boolean | undefined;
  /** `whole`: outputs are answered as they are, however long or large. Default `fit`: within an agent's budget. */
  outputs?: 'fit' | 'whole' | undefined;
  /** What runs the code of the built-in notebook: `pyodide`, the name of a kernelspec, the path of a Python, or `auto`. Default `pyodide`. */
  kernel?: string | undefined;
  /** A person at a terminal chose the kernel; false: the arguments of a program did. Default false. */
  attended?: boolean | undefined;
  /** The operating-system sandbox of the built-in notebook's Python. Default `auto`; `off` for an own Python that a person chose. */
  sandbox?: SandboxMode | undefined;
  /**
   * What code reaches of the notebook's folder. An own Python is refused without a sandbox; Pyodide refuses `rw`. Default: in a sandbox `ro`; Pyodide `ro` if
   * `attended`, or chosen in a window, else `none`.
   */
  files?: FolderAccess | undefined;
  /** Servers that code in Pyodide or in the sandbox may reach: `pypi.org`, `*.example.org`, `example.org:8443`. Default: none. */
  allowNet?: readonly string[] | undefined;
  /** A person agrees to edits of a Jupyter server's notebooks that open tabs may not follow. Default false: each is asked for. */
  allowEdits?: boolean | undefined;
  /**
   * Which process holds the built-in notebook. `own`: this one alone. `shared`: this one, and agents of other processes of the user join it.
   * `join`: whichever has the file open, else the user's broker, which is started if there is none; it goes on when this process ends.
   * Default `own`.
   */
  hold?: 'own' | 'shared' | 'join' | undefined;
  /** Pages of a profile, as Colab's, are held by the broker too, where `hold` is `join`. Default false: this process holds its page. */
  joinsPage?: boolean | undefined;
  /** Host names that pages may dial besides loopback. Exact. */
  allowHosts?: readonly string[] | undefined;
  /** Origins of pages besides those of the notebook's profile. Exact. */
  allowOrigins?: readonly string[] | undefined;
}

/** What those who join a notebook are held to, and may insist on. */
export function toTerms({ sandbox = 'auto', files, allowNet = [], kernel }: PageOptions, readOnly: boolean): NotebookTerms {
  return { sandbox, readOnly, allowNet, ...(files === undefined ? {} : { files }), ...(kernel === undefined ? {} : { kernel }) };
}

/** After how long without a call an agent holds its notebook no more, if the user has said it: `NOTEBRIDGE_LEASE_IDLE`, in seconds. */
export function leaseIdleIn(env: Environment): number | undefined {
  const seconds = Number(env.NOTEBRIDGE_LEASE_IDLE);
  return seconds > 0 ? seconds * 1000 : undefined;
}

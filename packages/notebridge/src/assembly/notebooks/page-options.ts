import type { FolderAccess, SandboxMode } from '@notebridge/notebook/host';

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
  /** What runs the code of the built-in notebook: `pyodide`, the name of a kernelspec, the path of a Python, or `auto`. Default `pyodide`. */
  kernel?: string | undefined;
  /** A person at a terminal chose the kernel; false: the arguments of a program did. Default false. */
  attended?: boolean | undefined;
  /** The operating-system sandbox of the built-in notebook's Python. Default `auto`; `off` for an own Python that a person chose. */
  sandbox?: SandboxMode | undefined;
  /** What code in the sandbox reaches of the notebook's folder; refused without a sandbox. Default `ro`; Pyodide has `none`, and refuses the others. */
  files?: FolderAccess | undefined;
  /** Servers that code in the sandbox may reach: `pypi.org`, `*.example.org`, `example.org:8443`. Default: none. */
  allowNet?: readonly string[] | undefined;
  /** A person agrees to edits of a Jupyter server's notebooks that open tabs may not follow. Default false: each is asked for. */
  allowEdits?: boolean | undefined;
  /**
   * Which process holds the built-in notebook. `own`: this one alone. `shared`: this one, and agents of other processes of the user join it.
   * `join`: whichever has the file open, else the user's broker, which is started if there is none; it goes on when this process ends.
   * Default `own`.
   */
  hold?: 'own' | 'shared' | 'join' | undefined;
  /** Host names that pages may dial besides loopback. Exact. */
  allowHosts?: readonly string[] | undefined;
  /** Origins of pages besides those of the notebook's profile. Exact. */
  allowOrigins?: readonly string[] | undefined;
}

import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { OpenNotebook } from './notebooks/open-notebook.js';
import type { PageOptions } from './notebooks/page-options.js';
import type { SettingsOptions } from './settings.js';

/** What a Notebridge is made of. Everything may be left out. */
export interface NotebridgeOptions extends SettingsOptions {
  /**
   * The notebook that agents work in: `colab`, `local` (built in, in memory), `jupyter` or `jupyter=ADDRESS` (a Jupyter server), the path
   * of an `.ipynb` file, the URL of a Colab notebook, `none`, or a function that opens one. Default `none`.
   */
  notebook?: string | OpenNotebook | undefined;
  /**
   * Servers of your own program: `MemoryToolServer`, or another `ToolServer`. They are called like those of the config, and hide one of the
   * same name there. Closing them stays with you. Default: none.
   */
  servers?: readonly ToolServer[] | undefined;
  /** How the notebook is opened. */
  pages?: PageOptions | undefined;
  /**
   * Agents call the servers' tools by code: `search_tools`, `describe_tools` and `execute_code` in place of the tools of every server without
   * an `expose` of its own. Default: as `notebridge.codeMode` of the config says, which is false.
   */
  codeMode?: boolean | undefined;
  /** The HTTP doors, all on one port. Left out: none is opened. */
  http?: HttpDoorOptions | undefined;
  /** Folder shared with kernels: bindings are kept in its `generated`, skills are read from its `skills`. Absolute. */
  sharedDir?: string | undefined;
  /** Starts the servers of the config that are not lazy at once. Default true; otherwise each starts with the first call of it. */
  startServers?: boolean | undefined;
  /**
   * One agent alone is served, over stdio: the servers are started with its first message, in its era, and may ask what it can be asked.
   * Default false.
   */
  oneAgent?: boolean | undefined;
  /** Takes edits of the config into use; with `logger`, they are reported there in place of the log. Default true. */
  followConfig?: boolean | { logger: Logger } | undefined;
}

export interface HttpDoorOptions {
  /** 0 for any free one. Default 8765. */
  port?: number | undefined;
  /** Address to listen on. Default: both loopback addresses. */
  host?: string | undefined;
  /** False: no token is required, on loopback only. Default true. */
  auth?: boolean | undefined;
  /** Values of `Host` that are accepted besides the loopback ones. Exact. */
  allowHosts?: readonly string[] | undefined;
  /** Origins of web pages that are accepted. Exact. */
  allowOrigins?: readonly string[] | undefined;
  /** How long `/readyz` says no for a server that is still starting when the hub starts. Milliseconds. Default 10 s. */
  serversReadyMs?: number | undefined;
  /** What the user's other commands call this hub, beside others of the same user. Default `hub`. */
  name?: string | undefined;
}

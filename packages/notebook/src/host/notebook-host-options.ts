import type { Logger } from '@notebridge/protocol/util/logger';
import type { FolderAccess, RunPlace, SandboxMode } from '@notebridge/sandbox/spec';
import type { Kernel } from '../kernel/kernel.js';
import type { KernelOptions } from '../kernels/notebook-kernels.js';
import type { DocumentLimits } from '../model/document.js';
import type { NotebookLimits } from '../model/nbformat.js';
import type { WindowAccess } from './admission.js';
import type { BesideHost } from './beside-hosts.js';
import type { FileStoreOptions } from './file-store.js';
import type { TrustedOutputs, WindowSeats } from './kept-files.js';
import type { SaveTiming } from './save-timer.js';
import type { NotebookTools } from './viewer-actions.js';
import type { LinkLimits } from './viewer-link.js';

export interface NotebookHostOptions extends WindowAccess, Pick<FileStoreOptions, 'cellIds'> {
  /** The notebook's file, made if it is not there. Without one the notebook lives in memory only. */
  file?: string | undefined;
  /** No part of `file` is a link: one that is met was put there since, and is refused. Default false. */
  isRealFile?: boolean | undefined;
  /** What people call the notebook. Default: the name of the file. */
  title?: string | undefined;
  /** Agents may look only, until a person allows more. Default false. */
  readOnly?: boolean | undefined;
  /** The folder of the built UI. Default: `ui` beside this package's built code. */
  uiFolder?: string | undefined;
  /** A kernel of the caller's, which cannot be changed in a window. The host closes it. Default: as `kernels` says. */
  kernel?: Kernel | undefined;
  /** Which kernel of this machine runs the code, begun with the first run or the first window. Default: Pyodide. */
  kernels?: KernelOptions | undefined;
  /**
   * Whether Python is in a sandbox of the operating system: `require` (else `start` rejects with `sandbox_unavailable`), `auto` (where
   * one works) or `off`. Default `off` for an own Python that a person chose, else `auto`. What came of it: `session.kernel.layers`.
   */
  sandbox?: SandboxMode | undefined;
  /**
   * What code reaches of the notebook's folder. An own Python is in a sandbox then, and `start` rejects with `sandbox_unavailable` where
   * none would keep it. Default: in a sandbox `ro`; Pyodide `ro` if a person opened or chose it, else `none`, never `rw`.
   */
  files?: FolderAccess | undefined;
  /** A person opened it, in a terminal or a window. Default: as `kernels.isAttended` says. */
  isByPerson?: boolean | undefined;
  /** Servers that code in Pyodide, or in a sandbox, may reach. Names, `*.` before one for those below it, `:PORT` behind it. Default: none. */
  allowNet?: readonly string[] | undefined;
  /** Files and folders that no code ever sees, though they may be in the notebook's folder: state, tokens, logs. Default: none. */
  ours?: readonly string[] | undefined;
  /**
   * The files and folders that this program runs or imports, as its config has them: `files: 'rw'` is refused where code could change them.
   * Default: none.
   */
  runs?: readonly RunPlace[] | undefined;
  /** What code in the notebook may call, and what windows show of it. The caller closes them, after the host. Default: nothing. */
  tools?: NotebookTools | undefined;
  /**
   * Makes the host of another notebook of the folder, which a person opens from a window; it is started, and closed with this one. Default:
   * one with Python of its own, in the same sandbox, whose code calls no tools; with `kernel` given none.
   */
  createBeside?: ((file: string) => BesideHost) | undefined;
  /** Keeps which outputs with scripts a person trusts. Default: as long as the host lives. */
  trustedOutputs?: TrustedOutputs | undefined;
  /** Keeps port and key of the notebook's windows, so that they find the next program that opens it. Default: as long as the host lives. */
  seats?: WindowSeats | undefined;
  limits?: (NotebookLimits & DocumentLimits) | undefined;
  timing?: Partial<SaveTiming> | undefined;
  windowLimits?: (Partial<LinkLimits> & { maxWindows?: number; maxMessageBytes?: number }) | undefined;
  logger?: Logger | undefined;
  /** Called with each new token, so that logs can be kept free of it. Default: none. */
  onSecret?: ((secret: string) => void) | undefined;
}

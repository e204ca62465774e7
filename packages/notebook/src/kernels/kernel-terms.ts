import type { FolderAccess, SandboxMode } from '@notebridge/sandbox/spec';
import { writtenFolderInherited, writtenFolderOf } from '@notebridge/sandbox/written-folders';
import type { CodeReach } from './allowed-reach.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import type { FindPyodideReach } from './pyodide-reach.js';

/** The decisions beside the kernel itself. */
export interface KernelTerms {
  readonly sandbox: SandboxMode;
  /** A person chose it, at a terminal or in a window. */
  readonly isAttended: boolean;
}

interface AskedReach {
  /** `--sandbox`; undefined where nobody has said. */
  readonly sandbox: SandboxMode | undefined;
  readonly files?: FolderAccess | undefined;
  readonly allowNet: readonly string[];
}

/**
 * A kernel takes modules from where it begins, and code and settings by what it inherits, before any cell runs: from a folder of code's it loads
 * what code has put there. `inherited`: as it is handed on where nothing keeps it back.
 */
export function beginningIn(
  { folder, sandbox, ...reach }: AskedReach & { folder: string },
  found: FoundKernel,
  inherited: NodeJS.ProcessEnv = process.env,
): FoundKernel {
  // In a sandbox alone it is anyway.
  if (found.launch === undefined || found.written !== undefined || sandbox === 'require' || isConfined(reach)) return found;
  const written = writtenFolderOf(folder) ?? writtenFolderInherited(inherited, folder);
  return written === undefined ? found : { ...found, written };
}

export function termsFor({ id, written, launch }: FoundKernel, { sandbox, ...reach }: AskedReach, isAttended: boolean): KernelTerms {
  if (sandbox !== undefined || id === pyodideKernel.id) return { sandbox: sandbox ?? 'auto', isAttended };
  if (isConfined(reach)) return { sandbox: 'require', isAttended };
  // Where no sandbox works a Python runs as before, and says so; a kernelspec leads to code that nobody has looked at.
  if (written !== undefined) return { sandbox: launch?.kernelName === undefined ? 'auto' : 'require', isAttended };
  return { sandbox: isAttended ? 'off' : 'auto', isAttended };
}

export interface ReopenFacts {
  readonly terms: KernelTerms;
  /** `--sandbox`, as it was given. */
  readonly sandbox: SandboxMode | undefined;
  readonly reach: CodeReach;
  /** The reach of Pyodide's code. */
  readonly findReach: FindPyodideReach;
  /** Nobody has named a kernel: what `auto` finds is meant. */
  readonly isAuto: boolean;
}

/** The options with which a person at a terminal opens the notebook again with this kernel and these limits. */
export function toReopenOptions(kernel: FoundKernel, { terms, sandbox, reach, findReach, isAuto }: ReopenFacts): string[] {
  const words = isAuto ? [] : ['--kernel', kernel.id];
  const mode = sandbox ?? (termsFor(kernel, { sandbox, ...reach }, true).sandbox === terms.sandbox ? undefined : terms.sandbox);
  if (mode !== undefined) words.push('--sandbox', mode);
  const isWithout = kernel.id === pyodideKernel.id && !terms.isAttended && findReach(false).folder !== findReach(true).folder;
  const files = reach.files ?? (isWithout ? 'none' : undefined);
  if (files !== undefined) words.push('--files', files);
  return [...words, ...reach.allowNet.flatMap((server) => ['--allow-net', server])];
}

function isConfined({ files, allowNet }: Pick<AskedReach, 'files' | 'allowNet'>): boolean {
  return files !== undefined || allowNet.length > 0;
}

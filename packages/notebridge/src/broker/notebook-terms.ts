import { BridgeError } from '@notebridge/protocol/core/errors';

/** How a notebook was opened, as far as those who join it may insist on it. */
export interface NotebookTerms {
  sandbox: string;
  readOnly: boolean;
  /** `--files`; left out: as the kernel has it, which is everything for an own Python without a sandbox. */
  files?: 'none' | 'ro' | 'rw' | undefined;
  /** `--kernel`; left out: nobody has said. Not insisted on: a person may have chosen another one since. */
  kernel?: string | undefined;
  /** `--allow-net`; empty: nobody has said, which is everything for an own Python without a sandbox. */
  allowNet: readonly string[];
}

/**
 * Throws `sandbox_unavailable` or `bad_usage` if the notebook was opened on terms that give more than the joining process insists on. What it
 * does not insist on is as the notebook has it. `file`: as it is called in messages.
 */
export function assertTerms(file: string, { held, wanted }: { held: NotebookTerms; wanted: NotebookTerms }): void {
  const end = `End it with "notebridge stop ${file}"`;
  if (wanted.sandbox === 'require' && held.sandbox !== 'require')
    throw new BridgeError(
      'sandbox_unavailable',
      `"${file}" is open already, without --sandbox=require. ${end}, then start this one again.`,
    );
  if (wanted.readOnly && !held.readOnly)
    throw new BridgeError(
      'bad_usage',
      `"${file}" is open already, and agents may change it: --read-only cannot be had for one of them. ${end}, or leave --read-only out.`,
    );
  const more = (option: string, name: string): BridgeError =>
    new BridgeError(
      'bad_usage',
      `"${file}" is open already, and its code may reach more than "${option}" allows. ${end}, then start this one again; or leave ${name} out.`,
    );
  if (wanted.files !== undefined && rankOf(filesOf(held)) > rankOf(wanted.files)) throw more(`--files ${wanted.files}`, '--files');
  if (wanted.allowNet.length > 0 && !reachesAtMost(held, wanted.allowNet))
    throw more(`--allow-net ${wanted.allowNet.join(',')}`, '--allow-net');
}

/** What a joining process has to know, which asked for a kernel that it does not get. `isUsing`: whether the notebook's is the one of this name. */
export function kernelNote(
  { location, kernel }: { location: string | null; kernel: string | null },
  { isUsing, wanted }: { isUsing: (kernel: string) => boolean; wanted: NotebookTerms },
): string | undefined {
  if (wanted.kernel === undefined || wanted.kernel === 'auto' || isUsing(wanted.kernel)) return undefined;
  const end = location === null ? '' : ` Or they end it with "notebridge stop ${location}", and you call again.`;
  return `This notebook was open already, with ${kernel ?? 'another kernel'}, and goes on with it: --kernel ${wanted.kernel} was not used. Its window asks the person whether that one shall take its place (open_notebook_window).${end}`;
}

const ranks = ['none', 'ro', 'rw', 'everything'] as const;

function rankOf(access: (typeof ranks)[number]): number {
  return ranks.indexOf(access);
}

/** Each of these is refused where it would not be kept, also for a kernel that a person chooses later. */
function isKept({ sandbox, files, allowNet }: NotebookTerms): boolean {
  return sandbox === 'require' || files !== undefined || allowNet.length > 0;
}

/** The most that code of any kernel has of the folder. */
function filesOf(terms: NotebookTerms): (typeof ranks)[number] {
  return terms.files ?? (isKept(terms) ? 'ro' : 'everything');
}

/** Entries are compared as they were written: one that covers another is not looked for. */
function reachesAtMost(held: NotebookTerms, wanted: readonly string[]): boolean {
  const toPlain = (entry: string): string => entry.trim().toLowerCase();
  const may = new Set(wanted.map(toPlain));
  return isKept(held) && held.allowNet.every((entry) => may.has(toPlain(entry)));
}

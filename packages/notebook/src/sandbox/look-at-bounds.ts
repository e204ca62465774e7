import { boundKinds } from './control-groups.js';

/** What keeps the bounds of an own Python in the sandbox on this machine. */
export interface KernelBounds {
  /** For people. */
  readonly text: string;
  /** Linux bounds how many there are, however busy the machine is. */
  readonly isKept: boolean;
  /** What would have Linux do it. */
  readonly fix?: string;
}

const watched = 'watched ten times a second';

/** Makes a control group, to see whether it can, and removes it. */
export function lookAtBounds(): KernelBounds {
  const kinds = boundKinds();
  const isRoot = process.getuid?.() === 0;
  const byGroup = 'bounded by a control group of Linux';
  const isKept = kinds.includes('pids') || !isRoot;
  const processes = kinds.includes('pids') ? byGroup : isRoot ? `${watched} alone, since root has no limit` : 'bounded by a limit of Linux';
  return {
    text: `processes ${processes}; all memory together ${kinds.includes('memory') ? byGroup : watched}`,
    isKept,
    ...(isKept ? {} : { fix: 'Run Notebridge as another user than root, or where it can make control groups (cgroups).' }),
  };
}

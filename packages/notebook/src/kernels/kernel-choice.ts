import type { FoundKernel } from './found-kernel.js';

/** A kernel as windows and `notebridge kernels --json` list it. */
export interface KernelOffer extends Omit<FoundKernel, 'launch'> {
  readonly isCurrent: boolean;
}

/** The kernel of a notebook: which, why, and what would be better. Plain JSON. */
export interface KernelChoice {
  readonly id: string;
  readonly displayName: string;
  /** Why this one: `the notebook names it`. */
  readonly reason: string;
  /** What its code can do to this machine, in one or two sentences. */
  readonly isolation: string;
  /** What could be used instead, with the question for the person. `folder` is what a yes trusts. */
  readonly proposal: { readonly id: string; readonly question: string; readonly folder: string } | null;
  /** What the sandbox kept code from, and a person may allow by a restart: writing to this folder, or reaching this server. */
  readonly mayAllow: { readonly kind: 'write' | 'network'; readonly what: string } | null;
  /** What the person should know, with the next step. */
  readonly notice: string | null;
}

import type { FoundKernel } from './found-kernel.js';

/** The question to a person before a kernel runs: with what its code may do then. */
export interface KernelAsks {
  readonly question: string;
  readonly isolation: string;
  /** A yes trusts it. Null: nothing needs trust. */
  readonly folder: string | null;
}

/** A person's answer to it, and the kernel and folder that the person has read; left out: whatever is asked about. */
export interface KernelAnswer {
  readonly yes: boolean;
  readonly id?: string | undefined;
  readonly folder?: string | undefined;
}

/** A kernel as windows list it. */
export interface KernelOffer extends Omit<FoundKernel, 'launch' | 'trust'> {
  readonly isCurrent: boolean;
  /** Null: choosing it is enough. */
  readonly asks: KernelAsks | null;
}

/** The kernel of a notebook: which, why, and what would be better. Plain JSON. */
export interface KernelChoice {
  readonly id: string;
  readonly displayName: string;
  /** Why this one: `the notebook names it`. */
  readonly reason: string;
  /** What its code can do to this machine, in one or two sentences. */
  readonly isolation: string;
  /** The kernel that could be used instead. */
  readonly proposal: (KernelAsks & { readonly id: string }) | null;
  /** Of `notebridge notebook`: with these a person opens the notebook again with this kernel and these limits. */
  readonly options: readonly string[];
  /** What the sandbox kept code from, and a person may allow by a restart: writing to this folder, or reaching this server. */
  readonly mayAllow: { readonly kind: 'write' | 'network'; readonly what: string } | null;
  /** What the person should know, with the next step. */
  readonly notice: string | null;
}

/** An open notebook of this hub, as its owner sees and works it. What can be done to it is there, and nothing else. */
export interface WatchedNotebook {
  /** Never another's, as long as the hub lives. */
  readonly id: string;
  describe(): NotebookFacts;
  /** Which agent writes. Left out: its agents are not kept apart. */
  readonly lease?: WatchedLease | undefined;
  /** An address that opens a window for its person, once. A secret until then. `origin`: where the owner has reached the hub. */
  readonly newAddress?: ((origin: string) => string) | undefined;
  /** Hangs up on the page that is connected, which does not dial again by itself. False if there is none. */
  readonly disconnectPage?: (() => boolean) | undefined;
  /** Ends what runs, and forgets what waits. */
  readonly stopRuns?: (() => Promise<void>) | undefined;
  /** The last change of an agent that is not taken back. Left out: none is remembered. */
  readonly lastChange?: (() => WatchedChange | undefined) | undefined;
  /** Takes that one back. Rejects with `nothing_to_undo` or `changed_since`, and has changed nothing then. */
  readonly undo?: (() => Promise<void>) | undefined;
  /** Ends the kernel, with all that is in it, and starts another. Rejects with `kernel_failed`. */
  readonly restartKernel?: (() => Promise<void>) | undefined;
}

/** What an agent changed. */
export interface WatchedChange {
  /** `insert`, `update`, `move`, `delete` … */
  change: string;
  cellId: string;
  /** What that agent calls itself; undefined: not known. */
  agent?: string | undefined;
}

export interface NotebookFacts {
  kind: 'built-in' | 'jupyter' | 'page';
  title: string;
  /** A path or URL, without secrets; null: in memory, or not known. */
  location: string | null;
  /** As `notebridge ps` has it: `idle`, `busy`, `not started`, … of a kernel; `waiting` of a page that is not connected. */
  state: string;
  /** Name and version; null: a page does not say. */
  kernel: string | null;
  /** What its code can do to this machine, in a sentence or two; null: not known. */
  isolation: string | null;
  /** Open windows; null: it has none of ours. */
  windows: number | null;
  /** Of a page: what is connected, or keeps it away. */
  page?: { origin: string | null; since: number | null; text: string } | undefined;
  /** Its last call. `agent`: what that one calls itself; undefined: not known. `at`: milliseconds since the epoch. */
  lastCall?: { agent?: string | undefined; at: number } | undefined;
}

/** Which agent changes and runs a notebook, and what its owner decides about it. */
export interface WatchedLease {
  readonly state: {
    readonly holder: { readonly id: string; readonly name: string; readonly since: number } | null;
    readonly asking: readonly { readonly questionId: number; readonly id: string; readonly name: string; readonly reason?: string }[];
    /** Agents that only look, since it was taken away from them. */
    readonly barred: readonly string[];
  };
  /** What an agent calls itself; undefined: it has never called. */
  nameOf(agentId: string): string | undefined;
  /** False if nobody asks that any more. */
  answer(questionId: number, isYes: boolean): boolean;
  /** Takes the notebook away from an agent, which only looks from then on, or lets it write again. */
  setMayHold(agentId: string, may: boolean): void;
  /** Ends the hold; whichever agent writes next holds it. Returns who held it. */
  release(): string | undefined;
}

/** The notebooks that this hub holds. */
export interface WatchedNotebooks {
  list(): Promise<readonly WatchedNotebook[]>;
  /** Calls after changes that are noticed at once; the rest is seen by asking. Returns what ends it. */
  subscribe(listener: () => void): () => void;
}

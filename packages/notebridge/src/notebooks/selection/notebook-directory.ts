import type { Provider } from '../../core/provider.js';

/** An open notebook, as agents choose from them. */
export interface NotebookEntry {
  /** Short, and never another's. */
  id: string;
  kind: string;
  title: string;
  /** A path or URL, without secrets; null: in memory, or not known yet. */
  location: string | null;
  kernel: string | null;
  /** One word: `idle`, `busy`, … of a kernel; `waiting` of a page that is not connected. */
  state: string;
  /** The agent that may change and run it just now. */
  holder: string | null;
  /** What it waits for, and what is to be done. */
  missing?: string | undefined;
}

/** What an agent has named, once it is understood. */
export type NotebookReference =
  | { kind: 'open'; id: string }
  /** `file`: with links resolved; left out: a new one in memory. */
  | { kind: 'built-in'; file?: string | undefined }
  | { kind: 'jupyter'; where: string; notebook?: string | undefined }
  | { kind: 'page'; profile: string; url: string };

/** A notebook that an agent uses, wherever it is held. */
export interface NotebookLink extends Provider {
  /** Undefined until it has been joined. */
  readonly id: string | undefined;
  /** A person has disconnected this agent from it. */
  readonly isDisconnected: boolean;
  /** Opens or finds it. Rejects with what keeps it from opening; may be tried again. */
  join(): Promise<void>;
  showAgents(agents: readonly { id: string; name: string }[]): void;
  /** The notebook goes on. Twice is harmless. */
  close(): Promise<void>;
}

/** The notebooks of the user: what is open, and the way to each. */
export interface NotebookDirectory {
  /** Never rejects: what a process does not tell is left out. */
  list(): Promise<NotebookEntry[]>;
  /** Rejects with `bad_notebook`, `bad_origin` for what is none that an agent may name. `entries`: what is open. */
  find(named: { text: string; create: boolean }, entries: readonly NotebookEntry[]): Promise<NotebookReference>;
  /** A link of its own, which joins nothing yet. */
  linkTo(reference: NotebookReference): NotebookLink;
}

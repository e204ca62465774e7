import type { Provider } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Environment } from '@notebridge/system/processes/environment';

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
  /** What its code can do to the machine, where that is known. */
  isolation?: string | undefined;
  /** The agent that may change and run it just now. */
  holder: string | null;
  /** What it waits for, and what is to be done. */
  missing?: string | undefined;
}

/** What is open, as far as it is known. */
export interface NotebookList {
  entries: NotebookEntry[];
  /** What of the user's own does not answer, and holds notebooks that are not among the entries: which, why, and what is to be done. */
  silent: readonly string[];
}

/** What an agent has named, once it is understood. */
export type NotebookReference =
  | { kind: 'open'; id: string }
  /** `file`: with links resolved; left out: a new one in memory. */
  | { kind: 'built-in'; file?: string | undefined }
  | { kind: 'jupyter'; where: string; notebook?: string | undefined }
  | { kind: 'page'; profile: string; url: string };

/** What an agent has named. */
export interface NamedNotebook {
  text: string;
  /** Makes it where there is none. */
  create: boolean;
  /** The folder whose notebooks the agent may open by path; undefined: none. */
  folder: string | undefined;
  /** Where Jupyter's files are. */
  env: Environment;
}

/** Finds what is meant, or opens nothing: rejects with `bad_notebook`, `bad_origin`. `open`: what is open already. */
export type FindNotebook = (named: NamedNotebook, open: readonly NotebookEntry[]) => Promise<NotebookReference>;

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

/** What is kept where an agent works, open or not, if it cannot look there itself. */
export interface NotebookContents {
  /** What it may ask for, as properties of a JSON Schema. */
  readonly arguments: JsonObject;
  /** Never rejects: what keeps it from being looked at is answered. */
  list(args: JsonObject): Promise<JsonObject>;
}

/** The notebooks of the user: what is open, and the way to each. */
export interface NotebookDirectory {
  readonly contents?: NotebookContents | undefined;
  /** Never rejects. */
  list(): Promise<NotebookList>;
  /** Rejects with `bad_notebook`, `bad_origin` for what is none that an agent may name. `list`: what is open. */
  find(named: { text: string; create: boolean }, list: NotebookList): Promise<NotebookReference>;
  /** A link of its own, which joins nothing yet. */
  linkTo(reference: NotebookReference): NotebookLink;
}

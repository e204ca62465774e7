/** What an edit of the config did that is taken into use, as the owner of the hub is told of it. */
export interface ConfigEdit {
  /** When it was read. Milliseconds since the epoch. */
  at: number;
  /** Names of servers. */
  added: readonly string[];
  removed: readonly string[];
  /** Another program, or another address: ended, and started anew. */
  restarted: readonly string[];
  /** Something that a running program need not know. */
  changed: readonly string[];
  /** Keys of the config that hold after a restart of the hub. */
  late: readonly string[];
}

/** Why an edit is not used; what held before goes on. */
export interface RefusedEdit {
  at: number;
  /** In one line, with the first place and the next step. */
  message: string;
  file: string | undefined;
  /** Each thing that is wrong in the file. `line`: from 1; undefined: it is about the file as a whole. */
  faults: readonly { line: number | undefined; key: string; found: string; next: string }[];
}

/** What became of the edits since the hub started. */
export interface WatchedConfig {
  /** The last one that was taken into use; undefined: none was. */
  readonly edit: ConfigEdit | undefined;
  /** The file as it is now, where it cannot be used. */
  readonly refused: RefusedEdit | undefined;
  /** Returns what ends it. */
  subscribe(listener: () => void): () => void;
}

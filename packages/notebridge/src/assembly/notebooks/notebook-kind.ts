import type { Redacting } from '@notebridge/protocol/util/redactor';
import type { ClosableLogger } from '@notebridge/system/files/closable-logger';
import type { Environment } from '@notebridge/system/processes/environment';
import type { BrokerNotebook, NotebookOpening } from '../../broker/broker.js';
import type { NotebookAddress } from '../../broker/notebook-address.js';
import type { NamedNotebook, NotebookEntry, NotebookReference } from '../../notebooks/selection/notebook-directory.js';
import type { NotebridgeOptions } from '../options.js';
import type { OpenNotebook } from './open-notebook.js';

/**
 * A kind of notebook: where its notebooks are found and how they are opened, here and in the user's broker. Each has a folder of its own and a
 * line in `kinds.ts`; what all kinds have (leases, links, selection) knows none of them.
 */
export interface NotebookKind {
  /** As addresses have it. */
  readonly name: NotebookAddress['kind'];
  /** The values of `--notebook` that are of this kind, for texts. */
  readonly arguments: readonly string[];
  /** How `--notebook` opens it; undefined: the value is of another kind. Throws `bad_usage`. */
  opener(argument: string): OpenNotebook | undefined;
  /** The notebook that an agent names; undefined: it is of another kind. Rejects with `bad_notebook`, `bad_origin`. */
  find(named: NamedNotebook): Promise<NotebookReference | undefined>;
  /** The locations by which one that is open is found. Left out: it is found by its address alone. */
  locationsOf?(reference: NotebookReference, open: readonly NotebookEntry[], env: Environment): Promise<readonly string[]>;
  /** Its notebooks in the broker. Called once; opens nothing. */
  held(options: HeldKindOptions): HeldKind;
}

export interface OpenBrokerOptions {
  stateDir: string;
  idleMs: number;
  env: Environment;
  logger: ClosableLogger;
  createLogger: (redactor: Redacting) => ClosableLogger;
}

export interface HeldKindOptions extends OpenBrokerOptions {
  /** For a notebook that has a guard and an audit of its own. */
  createBridge: (options: NotebridgeOptions) => Promise<{ start(): Promise<void>; close(): Promise<void> }>;
}

/** The notebooks of one kind in the broker. */
export interface HeldKind {
  /** Rejects with what keeps it from opening, and leaves nothing open then. */
  open(opening: NotebookOpening): Promise<BrokerNotebook>;
  /** Takes up what an earlier broker has left. Never rejects. */
  restore?(): Promise<void>;
  /** Closing twice is harmless. */
  close?(): Promise<void>;
}

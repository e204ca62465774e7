import type { BrokerNotebook, NotebookOpening } from '../../broker/broker.js';
import type { Environment } from '../../processes/environment.js';
import type { ClosableLogger } from '../../state/closable-logger.js';
import type { Redacting } from '../../util/redactor.js';

export interface OpenBrokerOptions {
  stateDir: string;
  idleMs: number;
  env: Environment;
  logger: ClosableLogger;
  createLogger: (redactor: Redacting) => ClosableLogger;
}

/** Opens a notebook of one kind. Rejects with what keeps it from opening, and leaves nothing open then. */
export type BrokerOpener = (opening: NotebookOpening, options: OpenBrokerOptions) => Promise<BrokerNotebook>;

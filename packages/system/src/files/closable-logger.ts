import type { Logger } from '@notebridge/protocol/util/logger';

/** A log that may have to be closed by its creator. */
export type ClosableLogger = Logger & { close?(): Promise<void> };

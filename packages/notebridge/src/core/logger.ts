import type { Logger } from '@notebridge/kit/logger';

/** A log that may have to be closed by whoever made it. */
export type ClosableLogger = Logger & { close?(): Promise<void> };

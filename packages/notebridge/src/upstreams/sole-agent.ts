import type { CallContext } from '@notebridge/protocol/core/call-context';

/** The one agent of a process that serves no other: its servers speak as it does, and may ask what it can be asked. */
export interface SoleAgent {
  /** Of its first message; undefined: it has said nothing yet. */
  readonly context: CallContext | undefined;
  /** Resolves when it may be sent requests of its own. */
  readonly ready: Promise<unknown>;
}

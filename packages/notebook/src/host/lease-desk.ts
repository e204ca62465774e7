import type { LeaseState } from '../viewer/protocol.js';

/** Which agent changes and runs, and what a person decides about it. */
export interface LeaseDesk {
  readonly state: LeaseState;
  /** False if nobody asks that any more. */
  answer(questionId: number, isYes: boolean): boolean;
  setMayHold(agentId: string, may: boolean): void;
}

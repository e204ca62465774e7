import type { CallObserver } from '@notebridge/protocol/core/call-observer';
import type { JsonObject } from '@notebridge/protocol/json';

/** A request that is about to be sent to a server. */
export interface OutgoingCall {
  /** The call of the hub in whose course it is sent. */
  callId: string;
  method: string;
  params: JsonObject;
  protocolVersion: string;
  server: string;
  /** Where it is reached; undefined for a program that we started. */
  url: string | undefined;
}

/** A request that is followed to its end. */
export interface FollowedCall {
  /** To be sent in place of those of the call: they carry the trace on. */
  readonly params: JsonObject;
  /** Settles as the answer does. */
  until(answer: Promise<JsonObject>): Promise<JsonObject>;
}

/** Begins to follow a request. Undefined: nobody does, and it is sent as it is. Never throws. */
export type FollowCall = (call: OutgoingCall) => FollowedCall | undefined;

/** What is measured of calls while the hub runs. */
export interface Telemetry {
  readonly observer: CallObserver;
  readonly follow: FollowCall;
  /** Sends what is left; waits for that no longer than three seconds. Never rejects. Closing twice is harmless. */
  close(): Promise<void>;
}

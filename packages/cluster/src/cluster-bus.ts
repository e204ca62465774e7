/** Messages between hubs, each to whoever listens to its subject. A message may be lost, come twice, late, or before an older one. */
export interface ClusterBus {
  /** The largest message, in bytes. */
  readonly maxPayload: number;
  readonly isConnected: boolean;
  /** Sends what may be lost. Never throws; without a connection nothing is sent. */
  publish(subject: string, payload: Uint8Array): void;
  /** Listens from now on. Returns the unsubscribe function. */
  subscribe(subject: string, listener: (payload: Uint8Array) => void): () => void;
  /** Calls when the connection is lost, and when it is there again. Returns the unsubscribe function. */
  onConnection(listener: (isConnected: boolean) => void): () => void;
}

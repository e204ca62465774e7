/** Bounds of the servers of a config, each with its default. */
export const defaultUpstreamLimits = {
  /** How long a call may take where its server's config says nothing. Milliseconds. Default one hour. */
  callTimeoutMs: 3_600_000,
  /** How long an agent, and the person before it, may take to answer what a server asks in the middle of a call. Milliseconds. Default 10 min. */
  answerTimeoutMs: 600_000,
  /** How long a server may take to start, and a call waits for it. Milliseconds. Default 30 s. */
  startTimeoutMs: 30_000,
  /** A server that starts is late after the longest of its starts so far, and after this time at least. Milliseconds. Default 10 s. */
  lateStartMs: 10_000,
  /** How long a server may be silent to `server/discover` before it is sent `initialize` too. Milliseconds. Default 3 s. */
  eraSilenceMs: 3000,
  /** The longest message of a server, in UTF-16 units. Default 64 Mi. */
  maxMessageBytes: 67_108_864,
  /** How long a server that was given up is left alone before a call may try it again. Milliseconds. Default 5 s. */
  coolDownMs: 5000,
  /** How long a server that runs one call at a time may take to answer one that was cancelled, before it is started anew. Milliseconds. Default 5 s. */
  cancelledCallMs: 5000,
  /** How long a `lazy` server lives without calls. Milliseconds. Default 10 min. */
  lazyIdleMs: 600_000,
  /** Instances of one `per-agent` server at once; one more takes the place of the one that was idle longest. Default 64. */
  maxOwnInstances: 64,
};

export type UpstreamLimits = typeof defaultUpstreamLimits;

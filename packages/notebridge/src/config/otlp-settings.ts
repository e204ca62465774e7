/** Where traces and metrics of calls are sent, by OTLP over HTTP. */
export interface OtlpSettings {
  /** Base address of the collector; `/v1/traces` and `/v1/metrics` are appended. */
  endpoint: string;
  /** Sent with every request to the collector. */
  headers: Record<string, string>;
  /** One span per call. Default true. */
  traces: boolean;
  /** Durations of calls. Default true. */
  metrics: boolean;
  /** Of the traces that begin here, the part that is recorded: 0 to 1. Default 1. A caller that has a trace decides for its own. */
  sampleRatio: number;
  /** How often what was gathered is sent. Milliseconds. Default 10 s. */
  intervalMs: number;
}

import type { GatheredInput } from '../../bindings/input.js';

/** Where `generate` finds the tools: the running hub, or the servers of the config in this process. */
export interface ToolsSource {
  /** Rejects with `closed` if the hub is gone. */
  read(): Promise<GatheredInput>;
  /** Resolves when the tools may be other ones than those last read, or when the signal comes. Rejects with `closed` if the hub is gone. */
  changed(signal: AbortSignal): Promise<void>;
  /** Ends what was started for it. Closing twice is harmless. */
  close(): Promise<void>;
}

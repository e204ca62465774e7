// What model, tools and session use beyond ECMAScript: pages, workers and Node all have it. Only tsconfig.neutral.json reads
// this file, so that a name of one runtime alone does not slip in.

interface AbortSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

declare const AbortSignal: {
  /** Aborts with the first of them. */
  any(signals: AbortSignal[]): AbortSignal;
};

/** By a clock that nobody sets. Milliseconds. */
declare const performance: { now(): number };

declare class AbortController {
  readonly signal: AbortSignal;
  abort(): void;
}

declare function setTimeout(callback: () => void, delayMs: number): unknown;
declare function clearTimeout(timer: unknown): void;
/** Throws for what is no base64. */
declare function atob(base64: string): string;

declare class TextEncoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes: Uint8Array): string;
}

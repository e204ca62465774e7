import type { JsonObject } from '@notebridge/protocol/json';

/** What the code of a kernel may call. Passed in when the kernel is opened; the kernel knows no server, token or address. */
export interface KernelTools {
  /** The functions as a Python package, imported as `generated`. */
  readonly package: ToolPackage;
  /** A kernel starts: the package is wanted from now on. Calling it twice is harmless. */
  start(): void;
  /** Called with each new package. Returns the unsubscribe function. */
  onPackage(listener: (next: ToolPackage) => void): () => void;
  /** The answer as JSON text, which reaches the package unchanged; also of a call that failed. */
  call(call: ToolCall, options: ToolCallOptions): Promise<string>;
}

/** `coming`: the first import waits for it. `none`: there is nothing to call, and the import says why. */
export type ToolPackage<Files = ReadonlyMap<string, string>> =
  | { readonly state: 'coming' }
  | { readonly state: 'none'; readonly reason: string }
  /** Text by path with `/`, relative to the folder of the package. The same version, the same files. */
  | { readonly state: 'there'; readonly version: string; readonly files: Files };

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  /** `{"arguments":{…}}`, as the code has printed it. Not checked. */
  readonly body: string;
}

export interface ToolCallOptions {
  /** The code does not wait any more: it was interrupted, took too long, or is gone. */
  readonly signal: AbortSignal;
  /** Receives progress and log lines, each one JSON text. Undefined: nobody listens. */
  readonly onEvent: ((line: string) => void) | undefined;
  /** Whoever has the cell run that calls. Undefined: nobody can be asked, or nothing says which cell it is. */
  readonly asker: CodeAsker | undefined;
}

/** What a server asks in the middle of a call, as MCP has it: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface ServerQuestion {
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

export interface ServerQuestionOptions {
  /** The name by which code calls the server. */
  readonly server: string;
  /** Ends the question. */
  readonly signal: AbortSignal;
  /** How long an answer may take. Milliseconds. */
  readonly timeoutMs: number;
}

/** Whoever has code run, as servers ask it in the middle of the code's calls. */
export interface CodeAsker {
  /** What it can be asked: of MCP's capabilities of a client `elicitation`, `sampling` and `roots`. */
  readonly can: JsonObject;
  /** Once its cell has ended, an elicitation is answered `cancel`, and anything else rejects. */
  ask(question: ServerQuestion, options: ServerQuestionOptions): Promise<JsonObject>;
}

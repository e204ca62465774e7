/** How far a tool has come, as it says itself. */
export interface Progress {
  progress: number;
  /** What `progress` will be at the end, if the tool knows. */
  total?: number;
  message?: string;
}

export interface CallOptions {
  /** Aborting it ends the connection, and the hub cancels the call at the server. */
  signal?: AbortSignal;
  /** How long the call may take, milliseconds. Default: as long as the hub lets it. */
  timeoutMs?: number;
  onProgress?: (progress: Progress) => void;
}

/** Bytes that a tool returned: an image, a sound, the content of a resource. */
export interface Media {
  type: 'image' | 'audio' | 'resource';
  data: Uint8Array<ArrayBuffer>;
  mimeType: string;
  /** Of a resource: the address under which the server knows it. */
  uri?: string;
  /** The content block as the server sent it. */
  block: ContentBlock;
}

/** A content block of the protocol, as the server sent it. */
export interface ContentBlock {
  type: string;
  [key: string]: unknown;
}

/** All that came back from a call. */
export interface ToolResult<Value = unknown> {
  /** What a plain call returns. */
  value: Value;
  content: ContentBlock[];
  /** The data of a tool that gives data, and not text or pictures. A lone `{"result": X}` is X already. */
  structured: unknown;
  meta: { [key: string]: unknown };
  /** The call's id in the hub's log and audit. */
  callId: string | undefined;
  /** How long the call took in the hub. */
  durationMs: number | undefined;
}

/** A call that failed. The text says what was found, and what to do next. */
export class ToolError extends Error {
  constructor(message: string, details?: ToolErrorDetails);
  readonly server: string;
  readonly tool: string;
  /** `tool_failed` if the tool itself said so; else what prevented the call, such as `denied`, `timeout` or `hub_unreachable`. */
  readonly code: string;
  /** The blocks of a tool that failed. */
  readonly content: ContentBlock[];
  readonly structured: unknown;
  /** `error.data` of the server's answer: details of a protocol error besides its text. */
  readonly data: unknown;
  readonly callId: string | undefined;
}

export interface ToolErrorDetails {
  server?: string | undefined;
  tool?: string | undefined;
  code?: string | undefined;
  content?: ContentBlock[] | undefined;
  structured?: unknown;
  data?: unknown;
  callId?: string | undefined;
  cause?: unknown;
}

/**
 * A tool as a function: it resolves to what the tool returned, and rejects with `ToolError`, or with the signal's reason.
 * Where the server does not say what its tool returns, say it yourself: `await echo<string>({ message: 'hi' })`.
 */
export interface ToolFunction<Arguments, Returned = unknown> {
  <Value = Returned>(arguments_: Arguments, options?: CallOptions): Promise<Value>;
  /** The whole result: content blocks, metadata, call id. */
  raw<Value = Returned>(arguments_: Arguments, options?: CallOptions): Promise<ToolResult<Value>>;
  /** The names on the wire. */
  readonly server: string;
  readonly tool: string;
}

/** A tool that needs no arguments. */
export interface LenientToolFunction<Arguments, Returned = unknown> {
  <Value = Returned>(arguments_?: Arguments, options?: CallOptions): Promise<Value>;
  /** The whole result: content blocks, metadata, call id. */
  raw<Value = Returned>(arguments_?: Arguments, options?: CallOptions): Promise<ToolResult<Value>>;
  /** The names on the wire. */
  readonly server: string;
  readonly tool: string;
}

export interface Settings {
  /** The hub's address, with or without `/api/v1/mcp/proxy`. */
  url?: string | undefined;
  /** A grant: `notebridge grant`. */
  token?: string | undefined;
  /** A file that holds the grant, where there are files. It is read again when the hub refuses the token. */
  tokenFile?: string | undefined;
}

/**
 * Sets which hub is called, and with which token. What is left out stays as it is; `undefined` goes back to what is found: the variables
 * `NOTEBRIDGE_URL`, `NOTEBRIDGE_TOKEN` and `NOTEBRIDGE_TOKEN_FILE`, what the generator wrote down, this user's own running hub.
 */
export function configure(settings: Settings): void;

/** Calls a tool by its names on the wire. Resolves and rejects as a function of the tool does. */
export function callTool<Value = unknown>(
  server: string,
  tool: string,
  arguments_?: { [key: string]: unknown },
  options?: CallOptions,
): Promise<Value>;

/** As `callTool`, for the whole result. */
export function callToolRaw<Value = unknown>(
  server: string,
  tool: string,
  arguments_?: { [key: string]: unknown },
  options?: CallOptions,
): Promise<ToolResult<Value>>;

/** The function of a tool. The generated modules use it. */
export function defineTool(server: string, tool: string): LenientToolFunction<{ [key: string]: unknown }>;

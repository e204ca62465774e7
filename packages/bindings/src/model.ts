import type { JsonObject } from '@notebridge/protocol/json';

/** A tool as `tools/list` shows it. Unknown keys are of no concern. */
export type BoundTool = JsonObject & {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
};

/** A server as the bindings see it. Wire names are kept unchanged; every language derives its own names. */
export interface BoundServer {
  name: string;
  description: string | undefined;
  /** Sorted by name, and each name once: what a server lists twice is bound as it was listed first. */
  tools: readonly BoundTool[];
}

/** All that bindings are made from, whatever the language: same servers, same bytes. */
export interface BindingsInput {
  /** Sorted by name. */
  servers: readonly BoundServer[];
  /** True if the hub has the pseudo-server `skills`: then the skills functions are written too. */
  skills: boolean;
  /** Written to the manifest, so that code finds the hub: `http://127.0.0.1:8765/api/v1/mcp/proxy`. Never a token. */
  hubUrl: string | undefined;
}

/** The output of an emitter. Nothing is written yet. */
export interface GeneratedFiles {
  /** Text by path, with `/`, relative to the folder of the package; sorted. */
  files: ReadonlyMap<string, string>;
  /** SHA-256 of paths and texts, in hex. The same input gives the same. */
  contentHash: string;
  /** What a person should know: a name that had to be changed, a schema that could not be typed. One line each, sorted. */
  warnings: readonly string[];
}

/** One language: `python/emit-python.ts`, `typescript/emit-typescript.ts`. */
export type Emitter = (input: BindingsInput) => Promise<GeneratedFiles>;

/** One function of the bindings as a person reads it: how it is imported, its types, its signature and its documentation. */
export interface ToolStub {
  /** `from generated.mcp.github import star_repo` */
  importLine: string;
  /** Types that the signature names, then the declaration. No function body, nothing of what all functions share. */
  text: string;
}

/** The functions that a package for these servers has, one at a time: the same names and types, without writing the package. */
export interface ToolStubs {
  /** Names of tools in code, as `server.tool`, with their names on the wire. */
  readonly names: ReadonlyMap<string, StubAddress>;
  /** Undefined for a tool that none of the servers has. */
  stubOf(address: StubAddress): Promise<ToolStub | undefined>;
}

export interface StubAddress {
  server: string;
  tool: string;
}

export interface StubInput {
  /** As in `BindingsInput`: names depend on all of them. */
  servers: readonly BoundServer[];
  /** The pseudo-server of the skills, if there is one. */
  skills?: BoundServer | undefined;
}

import type { BoundServer } from './model.js';

/** One function of the bindings as a person reads it: how it is imported, its types, its signature and its documentation. */
export interface ToolStub {
  /** `from generated.mcp.github import star_repo` */
  importLine: string;
  /** Types that the signature names, then the declaration. No function body, nothing of what all functions share. */
  text: string;
}

/** The functions that a package for these servers has, one at a time: the same names and types, without writing the package. */
export interface ToolStubs {
  /** What tools are called in code, as `server.tool`, with the names on the wire. */
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

import type { BindingLanguage } from './languages.js';
import type { BoundServer } from './model.js';
import { skillFunctions } from './skill-stubs.js';

/** One function of the bindings as a person reads it: how it is imported, its types, its signature and its documentation. */
export interface ToolStub {
  /** `from generated.mcp.github import star_repo` */
  importLine: string;
  /** Types that the signature names, then the declaration. No function body, nothing of what all functions share. */
  text: string;
}

/** The functions that a package for these servers has, one at a time: the same names and types, without writing the package. */
export interface ToolStubs {
  /** What tools are called in the language, as `server.tool`, with the names on the wire. */
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

export type StubMaker = (input: StubInput) => ToolStubs;

const makers = {
  python: async (): Promise<StubMaker> => (await import('./python/python-stubs.js')).pythonStubs,
  typescript: async (): Promise<StubMaker> => (await import('./typescript/typescript-stubs.js')).typeScriptStubs,
} satisfies Record<BindingLanguage, () => Promise<StubMaker>>;

/** Loads what makes the stubs of a language, and makes them. */
export async function loadStubs(language: BindingLanguage, input: StubInput): Promise<ToolStubs> {
  return (await makers[language]())(input);
}

/** The names of the skills' functions, like those of tools. */
export function skillNames(skills: BoundServer | undefined): [name: string, address: StubAddress][] {
  if (skills === undefined) return [];
  const named = skills.tools.map(({ name }) => ({ tool: name, name: skillFunctions.get(name) }));
  return named.flatMap(({ tool, name }) => (name === undefined ? [] : [[`skills.${name}`, { server: skills.name, tool }]]));
}

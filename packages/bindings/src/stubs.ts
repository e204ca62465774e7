import type { BindingLanguage } from './languages.js';
import type { StubInput, StubMaker, ToolStubs } from './stub-model.js';

const makers = {
  python: async (): Promise<StubMaker> => (await import('./python/python-stubs.js')).pythonStubs,
  typescript: async (): Promise<StubMaker> => (await import('./typescript/typescript-stubs.js')).typeScriptStubs,
} satisfies Record<BindingLanguage, () => Promise<StubMaker>>;

/** Loads what makes the stubs of a language, and makes them. */
export async function loadStubs(language: BindingLanguage, input: StubInput): Promise<ToolStubs> {
  return (await makers[language]())(input);
}

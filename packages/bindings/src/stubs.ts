import type { StubInput, ToolStubs } from './stub-model.js';

/** Loads what makes the stubs of the Python package, and makes them. */
export async function loadStubs(input: StubInput): Promise<ToolStubs> {
  return (await import('./python/python-stubs.js')).pythonStubs(input);
}

import type { BindingsInput, Emitter, StubInput, ToolStubs } from './model.js';
import type { CheckedPackage } from './python/checked-package.js';

/** The languages that bindings are written in. Each is loaded when it is asked for. */
const emitters = {
  python: async (): Promise<Emitter> => (await import('./python/emit-python.js')).emitPython,
  typescript: async (): Promise<Emitter> => (await import('./typescript/emit-typescript.js')).emitTypeScript,
};

/** Loads what makes the Python package for a type checker. */
export async function loadChecked(): Promise<(input: BindingsInput) => Promise<CheckedPackage>> {
  return (await import('./python/checked-package.js')).emitChecked;
}

/** Loads what makes the stubs of the Python package, and makes them. */
export async function loadStubs(input: StubInput): Promise<ToolStubs> {
  return (await import('./python/python-stubs.js')).pythonStubs(input);
}

export type BindingLanguage = keyof typeof emitters;

export const bindingLanguages = Object.keys(emitters) as BindingLanguage[];

export function loadEmitter(language: BindingLanguage): Promise<Emitter> {
  return emitters[language]();
}

import type { Emitter } from './model.js';

/** The languages that bindings are written in. Each is loaded when it is asked for. */
const emitters = {
  python: async (): Promise<Emitter> => (await import('./python/emit-python.js')).emitPython,
  typescript: async (): Promise<Emitter> => (await import('./typescript/emit-typescript.js')).emitTypeScript,
};

export type BindingLanguage = keyof typeof emitters;

export const bindingLanguages = Object.keys(emitters) as BindingLanguage[];

export function loadEmitter(language: BindingLanguage): Promise<Emitter> {
  return emitters[language]();
}

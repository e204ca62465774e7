export { type BindingLanguage, bindingLanguages, loadEmitter, loadKernelEmitter } from './languages.js';
export type { BindingsInput, BoundServer, BoundTool, Emitter, GeneratedFiles } from './model.js';
export { sealFiles } from './seal-files.js';
export type { StubAddress, StubInput, ToolStub, ToolStubs } from './stub-model.js';
export { loadStubs } from './stubs.js';

export { type BindingLanguage, bindingLanguages, loadEmitter } from './languages.js';
export type { BindingsInput, BoundServer, BoundTool, Emitter, GeneratedFiles } from './model.js';
export { sealFiles } from './seal-files.js';
export { loadStubs, type StubAddress, type StubInput, type ToolStub, type ToolStubs } from './stubs.js';

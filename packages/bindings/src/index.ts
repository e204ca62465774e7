export { type BindingLanguage, bindingLanguages, loadChecked, loadEmitter } from './languages.js';
export type { BindingsInput, BoundServer, BoundTool, Emitter, GeneratedFiles } from './model.js';
export type { CheckedPackage, CheckedTool } from './python/checked-package.js';
export { sealFiles } from './seal-files.js';
export type { StubAddress, StubInput, ToolStub, ToolStubs } from './stub-model.js';
export { loadStubs } from './stubs.js';

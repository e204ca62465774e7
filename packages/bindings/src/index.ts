export { type BindingLanguage, bindingLanguages, loadChecked, loadEmitter, loadStubs } from './languages.js';
export type {
  BindingsInput,
  BoundServer,
  BoundTool,
  Emitter,
  GeneratedFiles,
  StubAddress,
  StubInput,
  ToolStub,
  ToolStubs,
} from './model.js';
export type { CheckedPackage, CheckedTool } from './python/checked-package.js';
export { sealFiles } from './seal-files.js';

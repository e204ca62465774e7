/** QuickJS, as the build bundles it, with its WebAssembly beside it. */
import release from '@jitl/quickjs-wasmfile-release-sync';
import type { QuickJSSyncVariant } from 'quickjs-emscripten-core';

export { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';

/** Its types are those of a module of CommonJS, which it is not here. */
export const variant = release as unknown as QuickJSSyncVariant;

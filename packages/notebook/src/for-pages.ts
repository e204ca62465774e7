// Fits outputs of other notebooks to an agent: pages answer in nbformat too.

export { NotebookError } from './model/errors.js';
export type { Output } from './model/output.js';
export { imageTypeOf } from './outputs/image-type.js';
export { createImageScaler } from './outputs/scale-image.js';
export { checkArguments } from './tools/arguments.js';
export { fitOutputs, shareOut } from './tools/fit-outputs.js';
export { fitCells } from './tools/get-cells.js';
export { getOutput, readOutput } from './tools/get-output.js';
export { createImageCollector, maxTextCharactersOf } from './tools/output-content.js';
export { describeTool, toFailedAnswer, toResult } from './tools/tool.js';

// What fits outputs of other notebooks to an agent: pages answer in nbformat too.
export type { Output } from '../model/output.js';
export { NotebookError } from '../model/errors.js';
export { checkArguments } from './arguments.js';
export { fitOutputs, shareOut } from './fit-outputs.js';
export { fitCells } from './get-cells.js';
export { getOutput, readOutput } from './get-output.js';
export { createImageCollector, maxTextCharactersOf } from './output-content.js';
export { describeTool, toFailedAnswer, toResult } from './tool.js';
export { imageTypeOf } from '../outputs/image-type.js';
export { createImageScaler } from '../outputs/scale-image.js';

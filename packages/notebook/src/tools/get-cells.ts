import type { JsonObject } from '@notebridge/kit/json';
import type { Cell } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import { toLines } from '../model/text.js';
import { cellIndex } from './cell-arguments.js';
import { fitOutputs, shareOut, sizeOfOutputs } from './fit-outputs.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import { defineNotebookTool, looks } from './tool.js';

export const getCells = defineNotebookTool<{ cellIndexStart?: number; cellIndexEnd?: number; includeOutputs?: boolean }>({
  name: 'get_cells',
  description:
    'Reads cells of the notebook, all of them by default. Answers {"cells": [{cell_type, id, source, rev, outputs?}]}; "rev" is what the other tools take as expected_rev.',
  properties: {
    cellIndexStart: { ...cellIndex, description: 'First cell to read. Default: the first.' },
    cellIndexEnd: { ...cellIndex, description: 'Last cell to read, itself included. Default: the last.' },
    includeOutputs: { type: 'boolean', default: false, description: 'Whether to read the outputs of code cells too.' },
  },
  required: [],
  annotations: { ...looks('Read cells'), idempotentHint: true },
  async answer({ session, args, options }) {
    const { cells } = session.document;
    const { cellIndexStart = 0, cellIndexEnd = Math.max(cellIndexStart, cells.length), includeOutputs = false } = args;
    if (cellIndexEnd < cellIndexStart) {
      throw new NotebookError(
        'bad_arguments',
        `Invalid arguments for get_cells: cellIndexEnd (${cellIndexEnd}) is before cellIndexStart (${cellIndexStart}).`,
      );
    }
    const images = createImageCollector(options, session.widgets);
    const read: CellView[] = [];
    for (const cell of cells.slice(cellIndexStart, cellIndexEnd + 1)) {
      read.push(toView(cell, includeOutputs && cell.type === 'code' ? await images.collect(cell.outputs) : undefined));
    }
    return { value: { cells: fitCells(read, maxTextCharactersOf(options)) }, images: images.blocks };
  },
});

type CellView = JsonObject & { outputs?: JsonObject[] };

/** Below this, outputs are left out as a whole. */
const leastCharacters = 300;

/** All outputs together in so many characters: where a cell's do not fit, it says what is missing. */
export function fitCells(cells: readonly CellView[], maxCharacters: number): CellView[] {
  const sizes = cells.map(({ outputs }) => (outputs ? sizeOfOutputs(outputs) : 0));
  const shares = shareOut(sizes, maxCharacters);
  return cells.map((cell, index) => {
    const [size = 0, share = 0] = [sizes[index], shares[index]];
    if (!cell.outputs || share >= size) return cell;
    if (share >= leastCharacters) return { ...cell, outputs: fitOutputs(cell.outputs, share) };
    const count = cell.outputs.length === 1 ? '1 output' : `${cell.outputs.length} outputs`;
    return { ...cell, outputs: [], outputs_left_out: `${count}, ${size} characters: read fewer cells at once` };
  });
}

function toView({ type, id, source, rev }: Cell, outputs: JsonObject[] | undefined): CellView {
  return { cell_type: type, id, source: toLines(source), rev, ...(outputs ? { outputs } : {}) };
}

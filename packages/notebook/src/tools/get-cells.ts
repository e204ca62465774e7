import type { JsonObject } from '@notebridge/kit/json';
import type { Cell } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import { toLines } from '../model/text.js';
import { cellIndex } from './cell-arguments.js';
import { createImageCollector } from './output-content.js';
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
  answer({ session, args, options }) {
    const { cells } = session.document;
    const { cellIndexStart = 0, cellIndexEnd = Math.max(cellIndexStart, cells.length), includeOutputs = false } = args;
    if (cellIndexEnd < cellIndexStart) {
      throw new NotebookError(
        'bad_arguments',
        `Invalid arguments for get_cells: cellIndexEnd (${cellIndexEnd}) is before cellIndexStart (${cellIndexStart}).`,
      );
    }
    const images = createImageCollector(options);
    const read = cells.slice(cellIndexStart, cellIndexEnd + 1).map((cell) => toView(cell, includeOutputs ? images.collect : undefined));
    return { value: { cells: read }, images: images.blocks };
  },
});

function toView({ type, id, source, rev, outputs }: Cell, collect?: (outputs: Cell['outputs']) => JsonObject[]): JsonObject {
  const shown = collect && type === 'code' ? { outputs: collect(outputs) } : {};
  return { cell_type: type, id, source: toLines(source), rev, ...shown };
}

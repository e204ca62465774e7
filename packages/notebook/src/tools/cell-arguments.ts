import type { ArgumentSchema } from './arguments.js';

/** The arguments that several tools have. */
export const cellIndex: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description: 'Place in the notebook, from 0; beyond the end means last.',
};

export const newCellIndex: ArgumentSchema = { ...cellIndex, description: 'Place of the new cell, from 0. Default: the end.' };

export const cellId: ArgumentSchema = { type: 'string', description: 'As get_cells or an add tool gave it.' };

export const expectedRev: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description: 'The "rev" of get_cells: refused, with the cell as it is now, if it has another. Default: as you last read or wrote it.',
};

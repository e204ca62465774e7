import type { ArgumentSchema } from './arguments.js';

/** The arguments that several tools have. */
export const cellIndex: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description: 'Position of the cell in the notebook, from 0; beyond the end means last.',
};

export const cellId: ArgumentSchema = { type: 'string', description: 'Id of the cell, as get_cells or an add tool gave it.' };

export const expectedRev: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description:
    'The "rev" that get_cells gave for the cell: the call is refused, and says what the cell is now, if it has another. Default: as you last read or wrote it.',
};

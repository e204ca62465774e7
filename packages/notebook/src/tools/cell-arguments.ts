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
    'The "rev" that get_cells gave for the cell. If somebody has changed the cell since, the call is refused and says what the cell is now. Without it, the change is made whatever the cell is.',
};

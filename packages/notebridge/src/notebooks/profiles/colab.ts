import type { Tool } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { colabLinks, colabOrigins, findColabUrl } from './colab-url.js';
import type { PageProfile } from './profile.js';

const cellIndex = { type: 'integer', minimum: 0, description: 'Position of the cell in the notebook, from 0.' };
const cellId = { type: 'string', description: 'Id of the cell, as get_cells or an add tool gave it.' };

function defineTool(name: string, description: string, properties: JsonObject, required: string[], annotations: JsonObject): Tool {
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false }, annotations };
}

const readOnly = { readOnlyHint: true };
const adds = { readOnlyHint: false, destructiveHint: false };
const changes = { readOnlyHint: false, destructiveHint: true };

const defaultUrl = 'https://colab.research.google.com/notebooks/empty.ipynb';

/**
 * Google Colab. Origins, URL and tools as observed of the live page in 2026 (the contract's wire and tool tables, section 3);
 * the page's own list takes the place of this one while it is connected.
 */
export const colabProfile: PageProfile = {
  name: 'colab',
  title: 'Google Colab',
  origins: colabOrigins,
  keepsToken: true,
  defaultUrl,
  findUrl: findColabUrl,
  links: colabLinks,
  newUrl: (id) => `${defaultUrl}?notebridge=${id}`,
  tools: [
    defineTool(
      'add_code_cell',
      'Adds a code cell to the notebook. Answers {"newCellId"}.',
      { cellIndex, language: { type: 'string', enum: ['python', 'r', 'julia'] }, code: { type: 'string' } },
      ['cellIndex', 'language', 'code'],
      adds,
    ),
    defineTool(
      'add_text_cell',
      'Adds a text cell (Markdown) to the notebook. Answers {"newCellId"}.',
      { cellIndex, content: { type: 'string' } },
      ['cellIndex', 'content'],
      adds,
    ),
    defineTool(
      'get_cells',
      'Reads cells of the notebook, all of them by default. Answers {"cells": [{cell_type, id, source, outputs?}]}.',
      {
        cellIndexStart: { ...cellIndex, description: 'First cell to read.' },
        cellIndexEnd: { ...cellIndex, description: 'Last cell to read, inclusive.' },
        includeOutputs: { type: 'boolean', default: false },
      },
      [],
      readOnly,
    ),
    defineTool(
      'run_code_cell',
      'Runs a code cell and waits until it has finished. Answers {"outputs"} in nbformat.',
      { cellId },
      ['cellId'],
      changes,
    ),
    defineTool('update_cell', 'Replaces the content of a cell.', { cellId, content: { type: 'string' } }, ['cellId', 'content'], changes),
    defineTool('move_cell', 'Moves a cell to another position.', { cellId, cellIndex }, ['cellId', 'cellIndex'], adds),
    defineTool('delete_cell', 'Deletes a cell.', { cellId }, ['cellId'], changes),
  ],
};

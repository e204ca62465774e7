import { adds, looks, type ToolDescription } from '../tools/tool.js';

const server = {
  type: 'string',
  description: 'Address of the Jupyter server, as an error names it. Needed where there are several.',
} as const;

/** The tools of a Jupyter server that are about its notebooks, beside those of the notebook in use. */
export const listNotebooks: ToolDescription = {
  name: 'list_notebooks',
  description:
    'Lists the notebooks of a folder of the Jupyter server, those with a running kernel, and which one is in use. Answers {"server", "in_use", "notebooks", "folders", "running"}.',
  inputSchema: {
    type: 'object',
    properties: { folder: { type: 'string', description: 'Path of the folder. Default: the root folder.' }, server },
    required: [],
    additionalProperties: false,
  },
  annotations: { ...looks('List the notebooks'), idempotentHint: true },
};

export const connectNotebook: ToolDescription = {
  name: 'connect_notebook',
  description:
    'Chooses the notebook of the Jupyter server that all other tools work in from now on, for this agent alone. Answers {"status", "server", "path", "live", "people", "cells", "kernel"}; "live" says that people see edits at once.',
  inputSchema: {
    type: 'object',
    properties: {
      notebook: { type: 'string', description: 'Path of the notebook, as in list_notebooks, or its whole address.' },
      create: { type: 'boolean', description: 'Makes an empty notebook there first.' },
      allow_edits: {
        type: 'boolean',
        description: 'Only after a person has agreed: change the notebook although it may be open in a tab that does not follow.',
      },
    },
    required: ['notebook'],
    additionalProperties: false,
  },
  annotations: { ...adds('Choose a notebook'), idempotentHint: true },
};

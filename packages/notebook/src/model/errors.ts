/** Every error of this package, by its code: what it means, and what to do. */
export const notebookErrors = {
  bad_notebook: { meaning: 'A text is no JSON, or no notebook of nbformat 2, 3 or 4.', next: 'Fix the place that the message names.' },
  too_large: {
    meaning: 'A notebook, cell or text is larger than its limit.',
    next: 'Make it smaller, or raise the limit that the message names.',
  },
  unknown_cell: { meaning: 'No cell has that id.', next: 'Read the ids with `get_cells`.' },
  unknown_tool: { meaning: 'The notebook has no tool of that name.', next: 'Use a name of the list.' },
  stale_cell: {
    meaning: 'The cell has changed since the revision that the caller knows.',
    next: 'Look at the current source, then decide again.',
  },
  bad_cell: { meaning: 'A pasted cell is none.', next: 'Fix the place that the message names.' },
  bad_arguments: {
    meaning: 'An argument of a tool is missing, unknown or of the wrong kind.',
    next: 'Fix the argument that the message names.',
  },
  not_code_cell: { meaning: 'Only code cells can be run.', next: 'Use the id of a code cell.' },
  read_only: { meaning: 'The notebook is read-only for agents.', next: 'Ask the person at the notebook to allow changes.' },
  changed_since: { meaning: 'The cell was changed after the change that would be undone.', next: 'Edit the cell instead.' },
  nothing_to_undo: { meaning: 'There is no such change, or it was taken back already.', next: 'Read the cells with `get_cells`.' },
  unknown_run: {
    meaning: 'No run of that id is known: it was too long ago, or of a process that has ended.',
    next: 'Look at `list_runs`, and at the cell with `get_cells`, before it is run again.',
  },
  cell_running: { meaning: 'The cell is running or waits for its turn.', next: 'Interrupt it first, or wait.' },
  cell_deleted: { meaning: 'The cell was deleted while it ran or waited.', next: 'Add it again.' },
  cancelled: { meaning: 'The run was cancelled before it began.', next: 'Run the cell again.' },
  kernel_failed: { meaning: 'The kernel could not be started.', next: 'Follow what the message says, then try again.' },
  kernel_dead: { meaning: 'The kernel has died.', next: 'Call `restart_kernel`; variables are gone.' },
  server_unreachable: {
    meaning: 'The Jupyter server that has the notebook does not answer, or the connection to it is lost.',
    next: 'Start the server, then call again.',
  },
  server_refused: { meaning: 'The Jupyter server does not accept the token.', next: 'Give its token, as the message says.' },
  server_failed: { meaning: 'The Jupyter server answered with an error.', next: 'Follow what the message says.' },
  no_notebook: {
    meaning: 'No notebook is chosen, or it is not on the server (any more).',
    next: 'Choose one of those that the message names.',
  },
  changed_elsewhere: {
    meaning: 'Another program changed the notebook on the server at the same moment; what does not touch that was joined and written.',
    next: 'Read the cells again, then decide.',
  },
  not_supported: { meaning: 'The Jupyter server works in a way that is not supported.', next: 'Follow what the message says.' },
  ask_person: { meaning: 'A person has to agree first.', next: 'Ask, then call again as the message says.' },
  no_question: { meaning: 'The question of the code is not open any more.', next: 'Look at the cell; run it again.' },
  out_of_step: { meaning: 'A change does not follow the last one that a replica has seen.', next: 'Begin again from a snapshot.' },
  closed: { meaning: 'The notebook session is closed.', next: 'Open the notebook again.' },
  internal: { meaning: 'A fault of ours.', next: 'Report it.' },
} as const satisfies Record<string, { meaning: string; next: string }>;

export type NotebookErrorCode = keyof typeof notebookErrors;

/** An error that is recognised by its `code`, never by its text. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code;
  /** Plain JSON for programs: the values that the message speaks of. */
  readonly data: { [key: string]: unknown };

  constructor(code: Code, message: string, options: { data?: { [key: string]: unknown }; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** An error of this package. */
export class NotebookError extends CodedError<NotebookErrorCode> {
  override name = 'NotebookError';
}

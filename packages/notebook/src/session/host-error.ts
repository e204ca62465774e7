import { CodedError } from '../model/errors.js';

/** Every error of the host, by its code: what it means, and what to do. What the notebook itself refuses is a `NotebookError`. */
export const hostErrors = {
  file_in_use: { meaning: 'Another Notebridge has the notebook open.', next: 'Use its window, or end it.' },
  file_unreadable: { meaning: 'The notebook could not be opened or created.', next: 'Follow what the message says.' },
  not_saved: { meaning: 'The notebook could not be saved.', next: 'Follow what the message says; saving is tried again.' },
  conflict: {
    meaning: 'The file was changed or removed by another program while there were changes here.',
    next: 'Decide which of the two to keep.',
  },
  no_conflict: { meaning: 'There is nothing to decide (any more).', next: 'Go on.' },
  no_file: { meaning: 'The notebook has no file.', next: 'Open a file with it.' },
  port_in_use: { meaning: 'The port is taken.', next: 'Choose another port, or leave it out.' },
  kernel_file_unreadable: { meaning: 'A file of the kernel that an output needs cannot be had.', next: 'Follow what the message says.' },
  image_unreadable: { meaning: 'An image beside the notebook cannot be shown.', next: 'Follow what the message says.' },
  bad_request: { meaning: 'A window sent an invalid request.', next: 'Reload the window.' },
  not_started: { meaning: 'The host is not started, or closed.', next: 'Call `start()` first.' },
  access_unchanged: { meaning: 'Code may call tools, or not, as before.', next: 'Follow what the message says.' },
  sandbox_unavailable: {
    meaning: 'A sandbox is required for Python, and none works on this machine.',
    next: 'Follow what the message says, or choose another mode of the sandbox.',
  },
  unknown_kernel: { meaning: 'There is no kernel of that name on this machine.', next: 'Look at the list of kernels.' },
  kernel_unusable: { meaning: 'The kernel is there, and lacks something.', next: 'Run the command that the message names.' },
  bad_path: { meaning: 'A path leads to no notebook in the folder of this one.', next: 'Follow what the message says.' },
  not_openable_here: { meaning: 'This window cannot open another notebook.', next: 'Run the command that the message names.' },
  unknown_agent: { meaning: 'That agent is not connected.', next: 'Look at the list of agents.' },
} as const satisfies Record<string, { meaning: string; next: string }>;

export type HostErrorCode = keyof typeof hostErrors;

/** An error of the host. */
export class HostError extends CodedError<HostErrorCode> {
  override name = 'HostError';
}

/** For the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

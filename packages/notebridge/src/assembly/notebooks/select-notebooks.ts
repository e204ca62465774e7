import { dirname } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import type { NotebookDirectory } from '../../notebooks/selection/notebook-directory.js';
import { NotebookSelection, type NotebookSelectionOptions } from '../../notebooks/selection/notebook-selection.js';
import { createJoined } from './create-joined.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';
import { UserNotebooks } from './user-notebooks.js';

export interface DirectoryOptions {
  /** The file of the agent's own notebook, with links resolved. */
  file?: string | undefined;
  readOnly: boolean;
  /** How others are opened: as the first. */
  how: JsonObject;
}

/** What is open in the user's processes, and how it is joined. */
export function createDirectory(setup: NotebookSetup, { file, readOnly, how }: DirectoryOptions): NotebookDirectory {
  const { stateDir: dir, env, findNotebook: find } = setup;
  return new UserNotebooks({
    dir,
    env,
    find,
    folder: folderOfAgent(file),
    linkTo: (reference, place) => {
      const open = reference.kind === 'open' ? { id: reference.id } : { address: reference };
      return createJoined(setup, { open, place, readOnly, how });
    },
  });
}

/** A notebook of another process, with all others that the agents of this one may use. Closing it leaves them all. */
export function openSelection(
  setup: NotebookSetup,
  { first, ...options }: Pick<NotebookSelectionOptions, 'first' | 'beginsWithNone' | 'directory'>,
): OpenedNotebook {
  const selection = new NotebookSelection({ first, ...options, isListed: setup.pages.list !== 'dynamic' });
  const close = async (): Promise<void> => {
    await Promise.all([selection.close(), first.close()]);
  };
  const watch = new AgentWatchMiddleware((agents) => first.showAgents(agents));
  const endSession = (sessionId: string): void => {
    void selection.endSession(sessionId);
    watch.endSession(sessionId);
  };
  return { provider: selection, middlewares: [watch], endSession, close };
}

/** Where an agent was started, unless that is the root of all files, as some hosts have it: then the folder of its notebook. */
function folderOfAgent(file: string | undefined): string | undefined {
  const cwd = process.cwd();
  if (dirname(cwd) !== cwd) return cwd;
  return file === undefined || dirname(file) === cwd ? undefined : dirname(file);
}

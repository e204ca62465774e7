import type { NotebookHost } from '@notebridge/notebook/host';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { WatchedNotebook } from '../../notebooks/watched-notebooks.js';

type Session = Pick<NotebookHost['session'], 'stop' | 'restart' | 'journal' | 'undoLast'>;

/** As windows and the notebook's journal name the owner of the hub. */
const by = { kind: 'person', name: 'The owner of the hub' } as const;

/** What the owner does with a notebook of ours and its kernel, as a person at its window does. */
export function watchSession(session: Session): Required<Pick<WatchedNotebook, 'stopRuns' | 'restartKernel' | 'lastChange' | 'undo'>> {
  return {
    lastChange: () => {
      const last = session.journal.findLast();
      return last && { change: last.action, cellId: last.cellId, agent: last.by.name };
    },
    undo: async () => {
      if (session.journal.findLast() === undefined)
        throw new BridgeError('nothing_to_undo', 'There is no change of an agent that could be taken back.');
      try {
        session.undoLast({ by });
      } catch (error) {
        // Its cell runs, or a person has changed it since.
        throw new BridgeError('changed_since', `Not taken back: ${messageOf(error)}`, { cause: error });
      }
    },
    stopRuns: () => session.stop({ by }),
    restartKernel: async () => {
      try {
        await session.restart({ by });
      } catch (error) {
        throw new BridgeError('kernel_failed', `The kernel was ended, and another could not be started: ${messageOf(error)}`, {
          cause: error,
        });
      }
    },
  };
}

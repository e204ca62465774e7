import type { UndoMiddleware } from '../../../notebooks/changes/undo-middleware.js';
import { describeConnection } from '../../../notebooks/connection-state.js';
import type { PageClient } from '../../../notebooks/pages/page-client.js';
import type { WatchedNotebook, WatchedNotebooks } from '../../../notebooks/watched-notebooks.js';
import type { ColabSessionProxy } from '../../../reference/colab-session-proxy.js';
import type { LeasedPage } from './lease-page.js';

export interface WatchPageOptions {
  session: ColabSessionProxy;
  client: PageClient;
  findId: () => Promise<string>;
  /** Undefined where its runs are not followed. */
  isRunning: (() => boolean) | undefined;
  /** Undefined where its agents are not kept apart. */
  lease: LeasedPage['lease'] | undefined;
  /** Undefined where changes are not journalled. */
  undo: UndoMiddleware | undefined;
  /** An address of the page that shows what keeps the notebook page away, and how it is opened. */
  connectAddress: (origin: string) => string;
}

/** The place of a notebook page, for the owner of the hub. */
export function watchPage({ session, client, findId, isRunning, lease, undo, connectAddress }: WatchPageOptions): WatchedNotebooks {
  const toNotebook = (id: string): WatchedNotebook => ({
    id,
    describe: () => {
      const { slot } = session.wss ?? {};
      const { state, ways } = session.connection ?? {};
      const isThere = client.isConnected();
      return {
        kind: 'page',
        title: slot?.profile.title ?? 'A notebook page',
        location: slot?.profile.defaultUrl ?? null,
        state: isThere ? (isRunning?.() === true ? 'busy' : 'idle') : 'waiting',
        kernel: null,
        isolation: null,
        windows: null,
        page: {
          origin: slot?.holder?.origin ?? null,
          since: slot?.holder?.since ?? null,
          // The steps beside the text hold the page's token, and are for the page of the address alone.
          text: state === undefined || ways === undefined ? '' : describeConnection(state, ways).text,
        },
        lastCall: lease?.lastCall,
      };
    },
    lease,
    newAddress: connectAddress,
    ...(undo && { lastChange: () => undo.lastChange, undo: () => undo.undoLast() }),
    disconnectPage: () => session.wss?.slot.disconnect('The owner of the hub disconnected this page') ?? false,
  });
  let notebook: Promise<WatchedNotebook> | undefined;
  return {
    list: async () => {
      notebook ??= findId().then(toNotebook);
      return [await notebook];
    },
    subscribe: (listener) => {
      const ends = [client.connectionChanged.add(() => listener()), lease?.changed.add(listener)];
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
}

import { fileURLToPath } from 'node:url';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { createToken } from '@notebridge/kit/token';
import { HostError } from '../session/host-error.js';
import type { WindowSeat, WindowSeats } from './kept-files.js';
import { ViewerServer, type ViewerServerOptions } from './viewer-server.js';

export interface OpenWindowsPortOptions extends Omit<ViewerServerOptions, 'key' | 'uiFolder'> {
  uiFolder?: string | undefined;
  /** The real path of the notebook's file; one in memory keeps no seat. */
  notebook: string | undefined;
  seats?: WindowSeats | undefined;
  onSecret?: ((secret: string) => void) | undefined;
  logger: Logger;
}

/** Where the notebook's windows connect. */
export interface WindowsPort {
  readonly server: ViewerServer;
  /** A window was open when the program before this one ended: it comes back by itself. */
  readonly awaitsWindow: boolean;
  /** Keeps for the next program whether a window is open. */
  note(hasWindow: boolean): void;
  /** Resolves when what was noted is kept. */
  noted(): Promise<void>;
}

/**
 * Where the notebook's windows were last, with the key that they have, so that they come back by themselves. A port that somebody else took
 * meanwhile is given up with its key: a page of theirs may have read what the browser kept for that port. Rejects with `port_in_use` for a
 * port that was asked for.
 */
export async function openWindowsPort({ notebook, seats, ...options }: OpenWindowsPortOptions): Promise<WindowsPort> {
  const kept = notebook === undefined ? undefined : await seats?.read(notebook).catch(() => undefined);
  const { server, key } = await openServer(kept, options);
  let seat: WindowSeat = kept?.key === key ? kept : { port: server.port, key, hasWindow: false };
  let writing: Promise<void> | undefined;
  const write = (): void => {
    const keep = (): Promise<void> | undefined => (notebook === undefined ? undefined : seats?.write(notebook, seat));
    writing = (writing ?? Promise.resolve()).then(keep).catch((error: unknown) => {
      options.logger.warn('Open windows will not find this notebook again after a restart.', { error: messageOf(error) });
    });
  };
  if (seat !== kept) write();
  await writing;
  return {
    server,
    awaitsWindow: seat.hasWindow,
    note(hasWindow) {
      if (hasWindow === seat.hasWindow) return;
      seat = { ...seat, hasWindow };
      write();
    },
    noted: async () => writing,
  };
}

async function openServer(
  kept: WindowSeat | undefined,
  { onSecret, ...options }: Omit<OpenWindowsPortOptions, 'notebook' | 'seats'>,
): Promise<{ server: ViewerServer; key: string }> {
  const { port: wanted = 0, uiFolder = fileURLToPath(new URL('../ui/', import.meta.url)) } = options;
  const open = async ({ port, key }: Pick<WindowSeat, 'port' | 'key'>) => {
    onSecret?.(key);
    return { server: await ViewerServer.open({ ...options, uiFolder, port, key }), key };
  };
  if (kept !== undefined && (wanted === 0 || wanted === kept.port)) {
    try {
      return await open(kept);
    } catch (error) {
      if (wanted !== 0 || !(error instanceof HostError) || error.code !== 'port_in_use') throw error;
    }
  }
  return open({ port: wanted, key: createToken() });
}

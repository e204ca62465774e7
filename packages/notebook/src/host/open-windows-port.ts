import { fileURLToPath } from 'node:url';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { createToken } from '@notebridge/kit/token';
import { HostError } from './host-error.js';
import { ViewerServer, type ViewerServerOptions } from './viewer-server.js';
import type { WindowSeat, WindowSeats } from './window-seats.js';

export interface OpenWindowsPortOptions extends Omit<ViewerServerOptions, 'key' | 'uiFolder'> {
  uiFolder?: string | undefined;
  /** The real path of the notebook's file; one in memory keeps no seat. */
  notebook: string | undefined;
  seats?: WindowSeats | undefined;
  onSecret?: ((secret: string) => void) | undefined;
  logger: Logger;
}

/**
 * Where the notebook's windows were last, with the key that they have, so that they come back by themselves. A port that somebody else took
 * meanwhile is given up with its key: a page of theirs may have read what the browser kept for that port. Rejects with `port_in_use` for a
 * port that was asked for.
 */
export async function openWindowsPort({ notebook, seats, onSecret, ...options }: OpenWindowsPortOptions): Promise<ViewerServer> {
  const { port: wanted = 0, logger, uiFolder = fileURLToPath(new URL('../ui/', import.meta.url)) } = options;
  const open = ({ port, key }: WindowSeat): Promise<ViewerServer> => {
    onSecret?.(key);
    return ViewerServer.open({ ...options, uiFolder, port, key });
  };
  const kept = notebook === undefined ? undefined : await seats?.read(notebook).catch(() => undefined);
  if (kept !== undefined && (wanted === 0 || wanted === kept.port)) {
    try {
      return await open(kept);
    } catch (error) {
      if (wanted !== 0 || !(error instanceof HostError) || error.code !== 'port_in_use') throw error;
    }
  }
  const key = createToken();
  const server = await open({ port: wanted, key });
  if (notebook !== undefined)
    await seats?.write(notebook, { port: server.port, key }).catch((error: unknown) => {
      logger.warn('Open windows will not find this notebook again after a restart.', { error: messageOf(error) });
    });
  return server;
}

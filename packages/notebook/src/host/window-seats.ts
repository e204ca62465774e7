import { isJsonObject } from '@notebridge/kit/json';
import { keptByNotebook } from './kept-files.js';

/** Where the windows of one notebook connect, and the key by which they and its host know each other. */
export interface WindowSeat {
  readonly port: number;
  readonly key: string;
  /** A window was open there when this was written. */
  readonly hasWindow: boolean;
}

/** Keeps the seat of each notebook, so that its windows find the next program that opens it. */
export interface WindowSeats {
  /** Undefined for a notebook that has none. `notebook`: the real path of its file. */
  read(notebook: string): Promise<WindowSeat | undefined>;
  write(notebook: string, seat: WindowSeat): Promise<void>;
}

export function windowSeatsIn(folder: string): WindowSeats {
  const kept = keptByNotebook(folder);
  return {
    read: async (notebook) => asSeat(await kept.read(notebook), notebook),
    write: (notebook, seat) => kept.write(notebook, { notebook, ...seat }),
  };
}

/** One that cannot be read is none. */
function asSeat(seat: unknown, notebook: string): WindowSeat | undefined {
  if (!isJsonObject(seat) || seat.notebook !== notebook) return undefined;
  const { port, key } = seat;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return typeof key === 'string' && /^[\w-]{43}$/.test(key) ? { port, key, hasWindow: seat.hasWindow === true } : undefined;
}

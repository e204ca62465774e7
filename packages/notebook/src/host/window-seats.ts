import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '@notebridge/kit/errno';
import { isJsonObject } from '@notebridge/kit/json';

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

/** Notebooks; the one that was given its seat longest ago is forgotten first. */
const maxSeats = 1000;

/** Keeps each in a file of the user's own (0600): processes that open different notebooks never write the same one. */
export function windowSeatsIn(folder: string): WindowSeats {
  const fileOf = (notebook: string) => join(folder, `${createHash('sha256').update(notebook).digest('hex').slice(0, 32)}.json`);
  return {
    async read(notebook) {
      const text = await readFile(fileOf(notebook), 'utf8').catch(ignoreMissing);
      return text === undefined ? undefined : parseSeat(text, notebook);
    },
    async write(notebook, seat) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await forgetOldest(folder);
      const temporary = join(folder, `${randomBytes(6).toString('hex')}.tmp`);
      try {
        await writeFile(temporary, `${JSON.stringify({ notebook, ...seat })}\n`, { flag: 'wx', mode: 0o600 });
        await rename(temporary, fileOf(notebook));
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

/** One that cannot be read is none. */
function parseSeat(text: string, notebook: string): WindowSeat | undefined {
  let seat: unknown;
  try {
    seat = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(seat) || seat.notebook !== notebook) return undefined;
  const { port, key } = seat;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return typeof key === 'string' && /^[\w-]{43}$/.test(key) ? { port, key, hasWindow: seat.hasWindow === true } : undefined;
}

async function forgetOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length < maxSeats) return;
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => ({ mtimeMs: 0 }))).mtimeMs })),
  );
  const oldest = dated.sort((a, b) => a.at - b.at).slice(0, names.length - maxSeats + 1);
  for (const { name } of oldest) await rm(join(folder, name), { force: true });
}

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ignoreMissing } from '@notebridge/kit/errno';

/** Which outputs of which notebooks a person trusts, by the digests of what could run in them. */
export interface TrustedOutputs {
  /** Undefined for a notebook that is not trusted. */
  read(notebook: string): Promise<readonly string[] | undefined>;
  /** Without digests it is trusted no more. */
  write(notebook: string, digests: readonly string[] | undefined): Promise<void>;
}

type Kept = { [notebook: string]: readonly string[] };

/** Notebooks; the one that was noted longest ago is forgotten first. */
const maxNotebooks = 1000;
/** Of one notebook; one that has more is asked about anew. */
const maxDigests = 2000;

/** Keeps them in a file of the user's own (0600), which is replaced as a whole. One that cannot be read trusts nothing. */
export function trustedOutputsIn(file: string): TrustedOutputs {
  const load = async (): Promise<Kept> => {
    const text = await readFile(file, 'utf8').catch(ignoreMissing);
    return text === undefined ? {} : asKept(text);
  };
  return {
    read: async (notebook) => {
      const kept = await load();
      return Object.hasOwn(kept, notebook) ? kept[notebook] : undefined;
    },
    async write(notebook, digests) {
      const { [notebook]: _before, ...others } = await load();
      const entries = Object.entries(others).slice(-maxNotebooks + 1);
      if (digests && digests.length <= maxDigests) entries.push([notebook, digests]);
      await replaceFile(file, `${JSON.stringify(Object.fromEntries(entries))}\n`);
    },
  };
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}-${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function asKept(text: string): Kept {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return {};
  const isList = (value: unknown) => Array.isArray(value) && value.every((digest) => typeof digest === 'string');
  return Object.fromEntries(Object.entries(found).filter(([, value]) => isList(value))) as Kept;
}

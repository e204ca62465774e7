import { isJsonObject } from '@notebridge/kit/json';
import { readKept, writeKept } from './kept-files.js';

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
  const load = async (): Promise<Kept> => asKept(await readKept(file));
  return {
    read: async (notebook) => {
      const kept = await load();
      return Object.hasOwn(kept, notebook) ? kept[notebook] : undefined;
    },
    async write(notebook, digests) {
      const { [notebook]: _before, ...others } = await load();
      const entries = Object.entries(others).slice(-maxNotebooks + 1);
      if (digests && digests.length <= maxDigests) entries.push([notebook, digests]);
      await writeKept(file, Object.fromEntries(entries));
    },
  };
}

function asKept(found: unknown): Kept {
  if (!isJsonObject(found)) return {};
  const isList = (value: unknown) => Array.isArray(value) && value.every((digest) => typeof digest === 'string');
  return Object.fromEntries(Object.entries(found).filter(([, value]) => isList(value))) as Kept;
}

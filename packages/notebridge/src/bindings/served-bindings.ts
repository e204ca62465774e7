import { createHash } from 'node:crypto';
import { type BindingLanguage, type BindingsInput, loadEmitter } from '@notebridge/bindings';
import { keepLatest } from '@notebridge/kit/keep-latest';
import { printMessage } from '../core/wire.js';
import { packArchive } from './archive.js';

export interface BindingsArchive {
  contentHash: string;
  bytes: Uint8Array;
}

/** Archives that are kept: of kernels that ask for the same there are many, of different grants few. */
const maxKept = 16;

/** Makes archives of bindings, and keeps the last ones: what is asked for twice at once, or again, is made once. */
export class ServedBindings {
  readonly #kept = new Map<string, Promise<BindingsArchive>>();

  /** Rejects if the emitter fails, which is a fault of ours. */
  archive(language: BindingLanguage, input: BindingsInput): Promise<BindingsArchive> {
    const key = createHash('sha256')
      .update(`${language} ${printMessage(input)}`)
      .digest('hex');
    const known = this.#kept.get(key);
    const archive = known ?? make(language, input);
    keepLatest(this.#kept, [key, archive], maxKept);
    if (known === undefined) archive.catch(() => this.#kept.delete(key));
    return archive;
  }
}

async function make(language: BindingLanguage, input: BindingsInput): Promise<BindingsArchive> {
  const emit = await loadEmitter(language);
  const files = await emit(input);
  return { contentHash: files.contentHash, bytes: await packArchive(files) };
}

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type BindingLanguage, type BindingsInput, type GeneratedFiles, loadEmitter } from '@notebridge/bindings';
import { printMessage } from '@notebridge/protocol/core/wire';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';

export interface BindingsArchive {
  contentHash: string;
  bytes: Uint8Array;
}

/** Archives that are kept: of kernels that ask for the same there are many, of different grants few. */
const maxKept = 16;
/** The folder that the files stand in: what it is called when it is unpacked. */
const topFolder = 'generated';
const plainFile = { type: 'file', mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 } as const;

/** Makes archives of bindings, and keeps the last ones: what is asked for twice at once, or again, is made once. */
export class ServedBindings {
  readonly #kept = new Map<string, Promise<BindingsArchive>>();

  /** Rejects if the emitter fails, which is a fault of ours. */
  archive(language: BindingLanguage, input: BindingsInput): Promise<BindingsArchive> {
    const key = createHash('sha256')
      .update(`${language} ${printMessage(input)}`)
      .digest('hex');
    const known = this.#kept.get(key);
    const archive =
      known ??
      loadEmitter(language)
        .then((emit) => emit(input))
        .then(async (files) => ({ contentHash: files.contentHash, bytes: await packArchive(files) }));
    keepLatest(this.#kept, [key, archive], maxKept);
    if (known === undefined) archive.catch(() => this.#kept.delete(key));
    return archive;
  }
}

/** A package as `.tar.gz`. The same files give the same bytes: no time, no owner, sorted. */
export async function packArchive({ files }: GeneratedFiles): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const paths = [...files.keys()].sort();
  const packed = await packTar(
    paths.map((path) => {
      const body = new TextEncoder().encode(files.get(path));
      return { header: { ...plainFile, name: `${topFolder}/${path}`, size: body.length }, body };
    }),
  );
  return promisify(gzip)(packed, { level: 9 });
}

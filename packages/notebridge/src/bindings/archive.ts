import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { GeneratedFiles } from '@notebridge/bindings';

/** The folder that the files stand in: what it is called when it is unpacked. */
const topFolder = 'generated';

/** A package as `.tar.gz`. The same files give the same bytes: no time, no owner, sorted. */
export async function packArchive({ files }: GeneratedFiles): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const paths = [...files.keys()].sort();
  const packed = await packTar(
    paths.map((path) => {
      const body = new TextEncoder().encode(files.get(path));
      const header = {
        name: `${topFolder}/${path}`,
        size: body.length,
        mode: 0o644,
        mtime: new Date(0),
        uid: 0,
        gid: 0,
        type: 'file' as const,
      };
      return { header, body };
    }),
  );
  return promisify(gzip)(packed, { level: 9 });
}

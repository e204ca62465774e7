import type { GeneratedFiles } from '@notebridge/bindings';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { publishFolder } from '@notebridge/system/files/published-folder';
import { processExists } from '@notebridge/system/processes/living-process';
import { writtenBy } from '@notebridge/system/processes/written-rule';

/** The file that every package of ours has, whatever its language. */
const manifestFile = '_manifest.json';

export interface WritePackageOptions {
  folder: string;
  /**
   * True where code imports the package while it is renewed: the folder is a link to one beside it, and a kernel that imported the old
   * package goes on with the old. False: a plain folder, that can be committed. What stands there already stays of its kind.
   */
  isLive: boolean;
  /** Of this process. */
  pid: number;
}

/**
 * Writes a package, whole or not at all, unless its folder has it already. Rejects with `bad_usage` for a folder that holds anything
 * else, and with `write_failed`; what was there is unchanged then.
 */
export function writePackage(
  { files, contentHash }: GeneratedFiles,
  { folder, isLive, pid }: WritePackageOptions,
): Promise<'written' | 'unchanged'> {
  return publishFolder(folder, files, {
    contentHash,
    marker: { file: manifestFile, isOurs: isManifest },
    asLink: isLive,
    writtenBy,
    processes: { own: pid, exists: processExists },
  });
}

function isManifest(text: string): boolean {
  const manifest = tryJson(text);
  return isJsonObject(manifest) && typeof manifest.generator === 'string' && manifest.generator.startsWith('notebridge');
}

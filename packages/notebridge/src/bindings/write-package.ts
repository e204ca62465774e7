import type { GeneratedFiles } from '@notebridge/bindings';
import { isJsonObject } from '@notebridge/kit/json';
import { processExists } from '@notebridge/kit/living-process';
import { writtenBy } from '../processes/written-rule.js';
import { publishFolder } from '../state/published-folder.js';
import { tryJson } from '../util/try-json.js';

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

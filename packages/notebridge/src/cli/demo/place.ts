import { constants } from 'node:fs';
import { access, lstat, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { reasonOf, remedyOf } from '@notebridge/kit/errno';
import { BridgeError } from '../../core/errors.js';

/** Where the demo works. */
export interface DemoPlace {
  /** A fresh folder of ours alone: config, log, audit, and the notebook unless it is kept. */
  folder: string;
  notebook: string;
  isKept: boolean;
  /** The whole environment of the Notebridge that is started: nothing of the user's own settings. */
  env: NodeJS.ProcessEnv;
  /** Removes the folder. Twice is harmless. */
  remove(): Promise<void>;
}

/** Makes the folder, with a config of these servers. Rejects with `bad_usage` if there can be no new notebook at `keep`, with `write_failed` if there can be no folder. */
export async function makePlace(
  keep: string | undefined,
  { env, servers = {} }: { env: NodeJS.ProcessEnv; servers?: Record<string, { command: string; args: string[] }> },
): Promise<DemoPlace> {
  const kept = keep === undefined ? undefined : resolve(keep);
  if (kept !== undefined) await assertFree(kept);
  const folder = await makeFolder();
  const config = join(folder, 'mcp.json');
  await writeFile(config, `${JSON.stringify({ mcpServers: servers })}\n`, { mode: 0o600 });
  // The audit of a demo is not the user's.
  const settings = { NOTEBRIDGE_CONFIG: config, NOTEBRIDGE_LOG_DIR: join(folder, 'logs'), XDG_STATE_HOME: join(folder, 'state') };
  const foreign = Object.entries(env).filter(([name]) => !name.startsWith('NOTEBRIDGE_'));
  return {
    folder,
    notebook: kept ?? join(folder, 'demo.ipynb'),
    isKept: kept !== undefined,
    env: { ...Object.fromEntries(foreign), ...settings },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Only the owner may look into what `mkdtemp` makes. */
async function makeFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'notebridge-demo-'));
  } catch (error) {
    throw new BridgeError('write_failed', `Cannot make a folder in "${tmpdir()}": ${reasonOf(error)}. ${remedyOf(error)}`, {
      cause: error,
    });
  }
}

async function assertFree(file: string): Promise<void> {
  if (!file.endsWith('.ipynb')) throw refusal(file, 'that is no name of a notebook. Name a file that ends in .ipynb.');
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined) throw refusal(file, 'something is there already, and the demo overwrites nothing. Name a new file.');
  try {
    const folder = await stat(dirname(file));
    if (!folder.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
    await access(dirname(file), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refusal(file, `no file can be made there: ${reasonOf(error)}. ${remedyOf(error)}`);
  }
}

function refusal(file: string, why: string): BridgeError {
  return new BridgeError('bad_usage', `Cannot keep the notebook as "${file}": ${why}`);
}

import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where the demo works. */
export interface DemoPlace {
  /** Ours alone: config, log, audit, and the notebook unless it is kept. */
  folder: string;
  notebook: string;
  /** The whole environment of the Notebridge that is started: nothing of the user's own settings. */
  env: NodeJS.ProcessEnv;
}

/** Lays a config of these servers into the folder. */
export async function setUpPlace(
  { folder, keep }: { folder: string; keep: string | undefined },
  { env, servers = {} }: { env: NodeJS.ProcessEnv; servers?: Record<string, { command: string; args: string[] }> },
): Promise<DemoPlace> {
  const config = join(folder, 'mcp.json');
  await writeFile(config, `${JSON.stringify({ mcpServers: servers })}\n`, { mode: 0o600 });
  // The audit of a demo is not the user's.
  const settings = { NOTEBRIDGE_CONFIG: config, NOTEBRIDGE_LOG_DIR: join(folder, 'logs'), XDG_STATE_HOME: join(folder, 'state') };
  const foreign = Object.entries(env).filter(([name]) => !name.startsWith('NOTEBRIDGE_'));
  return {
    folder,
    notebook: keep === undefined ? join(folder, 'demo.ipynb') : resolve(keep),
    env: { ...Object.fromEntries(foreign), ...settings },
  };
}

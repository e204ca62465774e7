import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadEmitter } from '@notebridge/bindings';
import { gatherInput } from '@notebridge/code-mode/bindings/input';
import { Renewer } from '@notebridge/code-mode/bindings/renewer';
import { writePackage } from '@notebridge/code-mode/bindings/write-package';
import { onToolsChanged, type ToolServers } from '@notebridge/protocol/core/tool-server';
import { reasonOf } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { makeFolderInside } from '@notebridge/system/files/folder-inside';
import { writtenBy } from '@notebridge/system/processes/written-rule';

export interface SharedFolderOptions {
  dir: string;
  servers: ToolServers;
  /** Written to the bindings, so that code finds the hub. */
  hubUrl: string;
  logger: Logger;
}

/** How long the bindings wait for a server that was never asked for its tools. It is taken in when it has answered. Milliseconds. */
const timeoutMs = 10_000;

/**
 * Keeps the folder that kernels share with the hub: `generated` always has the bindings of the tools as they are, `skills` is there to be
 * filled. Nothing that fails here ends the hub; it is logged and tried again.
 */
export function openSharedFolder(options: SharedFolderOptions): { close(): Promise<void> } {
  const { dir, servers, logger } = options;
  const folder = join(dir, 'generated');
  const said = new Set<string>();
  const closing = new AbortController();
  const renewer = new Renewer({
    work: () => renew(options, { folder, said, signal: closing.signal }),
    onFault: (error) => logger.error(`The bindings in "${folder}" are not up to date. ${messageOf(error)}`, { folder }),
  });
  const unsubscribe = onToolsChanged(servers, () => renewer.ask());
  renewer.ask(0);
  const made = makeSkills(join(dir, 'skills'), logger);
  return {
    close: async () => {
      unsubscribe();
      closing.abort();
      await Promise.all([made, renewer.close()]);
    },
  };
}

interface Renewal {
  folder: string;
  /** The warnings of the last time. */
  said: Set<string>;
  signal: AbortSignal;
}

async function renew({ servers, hubUrl, logger }: SharedFolderOptions, { folder, said, signal }: Renewal): Promise<void> {
  const emit = await loadEmitter('python');
  const { input, warnings } = await gatherInput(servers, { hubUrl, timeoutMs, signal });
  // A hub that ends takes no server's functions away with it.
  if (signal.aborted) return;
  const files = await emit(input);
  const outcome = await writePackage(files, { folder, isLive: true, pid: process.pid });
  for (const warning of warnings) if (!said.has(warning)) logger.warn(warning);
  // What is fixed and breaks again is logged again.
  said.clear();
  for (const warning of warnings) said.add(warning);
  if (outcome === 'unchanged') return;
  const tools = input.servers.reduce((sum, server) => sum + server.tools.length, 0);
  logger.info('Bindings written.', { folder, servers: input.servers.length, tools, content_hash: files.contentHash });
  // Names that had to be changed stand in the manifest.
  for (const warning of files.warnings) logger.debug(warning);
}

async function makeSkills(path: string, logger: Logger): Promise<void> {
  try {
    const written = writtenBy(path);
    if (written === undefined) await mkdir(path, { recursive: true });
    else await makeFolderInside(path, written);
  } catch (error) {
    logger.warn(`The folder "${path}" cannot be made: ${reasonOf(error)}.`, { path });
  }
}

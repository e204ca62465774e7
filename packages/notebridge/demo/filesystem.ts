import { existsSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from './own-package.js';

/** A server of others that the demo's notebook calls, and the folder that it may look at. */
export interface DemoFilesystem {
  command: string;
  args: string[];
  /** Absolute. */
  folder: string;
}

export interface FoundFile {
  /** Relative to the folder, with `/`. */
  path: string;
  bytes: number;
}

/** The package of the MCP project. Notebridge works with any server, and brings none along. */
const packageName = '@modelcontextprotocol/server-filesystem';

/** What is said where the server is not installed: nothing is fetched for a demo. */
export const withoutFilesystem = `Not shown: Python in the notebook calls an MCP server. That needs one, and "${packageName}" is not installed here.`;

/** Undefined where the server is not installed. */
export function findFilesystem(): DemoFilesystem | undefined {
  const manifest = findManifest();
  if (manifest === undefined) return undefined;
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const [program] = Object.values(bin);
  if (program === undefined) return undefined;
  const folder = findFolder();
  return { command: process.execPath, args: [join(dirname(manifest), program), folder], folder };
}

/** What is really there: what Python has found is held against it. The largest first. */
export async function readFolder(folder: string): Promise<FoundFile[]> {
  const paths = await readdir(folder, { recursive: true });
  const found = await Promise.all(
    paths.map(async (path) => {
      const about = await stat(join(folder, path));
      return about.isFile() ? [{ path: relative(folder, join(folder, path)).split(sep).join('/'), bytes: about.size }] : [];
    }),
  );
  return found.flat().sort((one, other) => other.bytes - one.bytes);
}

function findManifest(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  } catch {
    return undefined;
  }
}

/** The examples of a checkout; else Python files that Notebridge carries with it, wherever it is. */
function findFolder(): string {
  const examples = fileURLToPath(new URL('../../examples', packageFolder));
  return existsSync(examples) ? examples : fileURLToPath(new URL('dist/bindings/python/runtime', packageFolder));
}

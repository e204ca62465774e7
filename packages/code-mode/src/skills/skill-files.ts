import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { mimeTypeOf } from '@notebridge/protocol/util/mime-types';
import { textOfBytes } from '@notebridge/protocol/util/text-of-bytes';
import type { ContainedFolder } from '@notebridge/system/files/contained-folder';
import { scriptSuffixes } from '@notebridge/system/processes/interpreters';
import { notFound } from './find-by-name.js';
import type { Skill } from './skill-finder.js';
import { toStringResult } from './skill-tools.js';

/** A script of a skill. */
export interface SkillScript {
  /** Without its ending, unless another script has the same name. */
  name: string;
  /** From the skill's folder. */
  path: string;
}

/** Folders of a skill whose files are resources. */
const resourceFolders = ['resources', 'references', 'assets'] as const;

const mostFiles = 500;
const mostFolders = 50;
const deepest = 4;

/** The scripts of a skill: what stands in `scripts/` and has an ending that can be run. */
export async function listScripts({ folder }: Skill): Promise<SkillScript[]> {
  const files = (await listFiles(folder, 'scripts')).filter((path) => scriptSuffixes.some((suffix) => path.toLowerCase().endsWith(suffix)));
  const names = files.map((path) => withoutSuffix(path.slice('scripts/'.length)));
  return files.map((path, index) => {
    const name = names[index] ?? '';
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    return { name: isTwice ? path.slice('scripts/'.length) : name, path };
  });
}

/** The resources of a skill: what stands in the folders for them, and beside its SKILL.md. */
export async function listResources({ folder, file }: Skill): Promise<string[]> {
  const inner = await Promise.all(resourceFolders.map((name) => listFiles(folder, name)));
  const beside = (await folder.list()).filter(({ kind, name }) => kind === 'file' && name !== file && !isHidden(name));
  return [...inner.flat(), ...beside.map(({ path }) => path)].slice(0, mostFiles);
}

/** Reads a file of a skill, named from its folder (`references/x.md`) or by its name in one of the folders for resources. */
export async function readResource(skill: Skill, name: string, maxBytes: number): Promise<ToolResult> {
  const path = name.replace(/^(\.\/)+/, '');
  if (/^([/\\]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).includes('..')) {
    throw new BridgeError('invalid_arguments', `A resource is named from the folder of its skill, and lies in it; "${name}" does not.`);
  }
  const places = isHidden(path) || path === '' ? [] : [path, ...resourceFolders.map((folder) => `${folder}/${path}`)];
  for (const place of places) {
    const read = await skill.folder.read(place, maxBytes);
    if (read.kind === 'read') return toResourceResult(skill, place, read.bytes);
    if (read.kind === 'unreadable') throw new BridgeError('result_too_large', `The resource "${place}" ${read.why}.`);
    // Where a link leads out of the skill, what is out there stays hidden.
  }
  throw notFound(`resource of the skill "${skill.name}" called`, name, await listResources(skill));
}

function toResourceResult(skill: Skill, path: string, bytes: Buffer): ToolResult {
  const text = textOfBytes(bytes);
  if (text !== undefined) return toStringResult(text);
  const mimeType = mimeTypeOf(path);
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { content: [{ type: 'image', data, mimeType }] };
  const uri = `skill://${[skill.name, ...path.split('/')].map(encodeURIComponent).join('/')}`;
  return { content: [{ type: 'resource', resource: { uri, mimeType, blob: data } }] };
}

/** True for a path with a hidden part: `.env`, `.git/config`. */
function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.') && part !== '.') || /(^|\/)__pycache__(\/|$)/.test(path);
}

export function withoutSuffix(path: string): string {
  return path.replace(/\.[^./]+$/, '');
}

/** Breadth first, and bounded in folders too: links inside may lead in circles. */
async function listFiles(folder: ContainedFolder, path: string): Promise<string[]> {
  const files: string[] = [];
  const waiting = [path];
  for (let visited = 0; visited < mostFolders && files.length < mostFiles; visited++) {
    const next = waiting.shift();
    if (next === undefined) break;
    for (const entry of await folder.list(next)) {
      if (isHidden(entry.name)) continue;
      if (entry.kind === 'file') files.push(entry.path);
      if (entry.kind === 'folder' && entry.path.split('/').length <= deepest) waiting.push(entry.path);
    }
  }
  return files.slice(0, mostFiles);
}

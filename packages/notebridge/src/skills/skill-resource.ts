import { BridgeError } from '../core/errors.js';
import type { ToolResult } from '../core/mcp.js';
import type { ContainedFolder } from '../state/contained-folder.js';
import { mimeTypeOf } from '../util/mime-types.js';
import { textOfBytes } from '../util/text-of-bytes.js';
import { notFound } from './find-by-name.js';
import { isHidden, listResources, resourceFolders } from './skill-files.js';
import type { Skill } from './skill-finder.js';
import { toStringResult } from './skill-tools.js';

/** Reads a file of a skill, named from its folder (`references/x.md`) or by its name in one of the folders for resources. */
export async function readResource(skill: Skill, name: string, maxBytes: number): Promise<ToolResult> {
  const path = name.replace(/^(\.\/)+/, '');
  if (/^([/\\]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).includes('..')) {
    throw new BridgeError('invalid_arguments', `A resource is named from the folder of its skill, and lies in it; "${name}" does not.`);
  }
  const places = isHidden(path) || path === '' ? [] : [path, ...resourceFolders.map((folder) => `${folder}/${path}`)];
  for (const place of places) {
    const bytes = await readFile(skill.folder, place, maxBytes);
    if (bytes !== undefined) return toResult(skill, place, bytes);
  }
  throw notFound(`resource of the skill "${skill.name}" called`, name, await listResources(skill));
}

/** Undefined where no file is, or where a link leads out of the skill: what is out there stays hidden. */
async function readFile(folder: ContainedFolder, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const read = await folder.read(path, maxBytes);
  if (read.kind === 'read') return read.bytes;
  if (read.kind === 'unreadable') throw new BridgeError('result_too_large', `The resource "${path}" ${read.why}.`);
  return undefined;
}

function toResult(skill: Skill, path: string, bytes: Buffer): ToolResult {
  const text = textOfBytes(bytes);
  if (text !== undefined) return toStringResult(text);
  const mimeType = mimeTypeOf(path);
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { content: [{ type: 'image', data, mimeType }] };
  const uri = `skill://${[skill.name, ...path.split('/')].map(encodeURIComponent).join('/')}`;
  return { content: [{ type: 'resource', resource: { uri, mimeType, blob: data } }] };
}

import type { WhyLeftOut, Written, WrittenFile } from '@notebridge/notebook/host';
import { imageTypeOf } from '@notebridge/notebook/outputs';
import type { ContentBlock } from '@notebridge/protocol/core/mcp';
import { mimeTypeOf, textTypeOf } from '@notebridge/protocol/util/mime-types';
import { textOfBytes } from '@notebridge/protocol/util/text-of-bytes';
import { shownName } from '../search/one-line.js';

/** Of one answer. */
export const mostFiles = 20;

/** Files that code has written, by how an agent gets them. */
export interface SortedFiles {
  /** As base64. */
  pictures: { path: string; mimeType: string; data: string }[];
  texts: { path: string; mimeType: string; text: string }[];
  others: { path: string; data: Buffer }[];
}

/** What a file is, its bytes say, and of a text its name. */
export function sortFiles(files: readonly WrittenFile[]): SortedFiles {
  const sorted: SortedFiles = { pictures: [], texts: [], others: [] };
  for (const { path, data } of files) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const pictureType = pictureTypeOf(bytes);
    const textType = textTypeOf(path);
    const text = textType === undefined ? undefined : textOfBytes(bytes, { keepsMark: true });
    if (pictureType !== undefined) sorted.pictures.push({ path, mimeType: pictureType, data: bytes.toString('base64') });
    else if (textType !== undefined && text !== undefined) sorted.texts.push({ path, mimeType: textType, text });
    else sorted.others.push({ path, data: bytes });
  }
  return sorted;
}

/** Files that are no pictures as resources, each whole or not at all: of texts so many characters together. And a note on what is left out. */
export function toFileBlocks(
  { texts, others }: SortedFiles,
  { leftOut = [], more = 0, unseen = 0 }: Partial<Written> = {},
  maxCharacters: number,
): { blocks: ContentBlock[]; notes: string[] } {
  const blocks: ContentBlock[] = [];
  const tooLong: string[] = [];
  let left = maxCharacters;
  for (const { path, mimeType, text } of texts) {
    if (text.length > left) tooLong.push(`${shownPath(path)} (${text.length} characters)`);
    else {
      left -= text.length;
      blocks.push({ type: 'resource', resource: { uri: toUri(path), mimeType, text } });
    }
  }
  for (const { path, data } of others)
    blocks.push({ type: 'resource', resource: { uri: toUri(path), mimeType: mimeTypeOf(path), blob: data.toString('base64') } });
  const lines = (Object.keys(because) as WhyLeftOut[]).flatMap((why) => {
    const named = leftOut.filter((one) => one.why === why).map(({ path, bytes }) => `${shownPath(path)} (${bytes} bytes)`);
    return named.length === 0 ? [] : [`- ${named.join(', ')}: ${because[why]}`];
  });
  if (tooLong.length > 0) lines.unshift(`- ${tooLong.join(', ')}: more text than this answer has room for; print a part of it`);
  if (more > 0) lines.push(`- ${more} more`);
  if (unseen > 0) lines.push(`- ${unseen} entries that were not looked at, since there are too many: delete some`);
  return { blocks, notes: lines.length === 0 ? [] : [`Not in this answer, but still in /out:\n${lines.join('\n')}`] };
}

const because: Record<WhyLeftOut, string> = {
  bytes: 'more bytes than the files of one answer may have ("notebridge.codeMode.outputBytes")',
  files: `one answer has ${mostFiles} files at most`,
  kind: 'no file; links are not followed',
  depth: 'too many folders above it',
  fault: 'it could not be read',
};

/** As an agent reads it. */
export function shownPath(path: string): string {
  return shownName(path === '' ? '/out' : `/out/${path}`);
}

function toUri(path: string): string {
  return `sandbox://out/${path
    .split('/')
    .map((name) => encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '\ufffd')))
    .join('/')}`;
}

/** Of those that agents are shown as pictures; an SVG is a text. */
function pictureTypeOf(bytes: Buffer): string | undefined {
  const type = imageTypeOf(bytes);
  return type === 'image/svg+xml' || type === 'image/avif' ? undefined : type;
}

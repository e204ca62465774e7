import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { ToolCallResponse } from '../../doors/tool-proxy/to-answer.js';
import { printPretty } from '../terminal.js';

/** Something of a result that is no text: an image, a sound, a file. */
export interface Attachment {
  mimeType: string;
  bytes: Buffer;
  /** For people: `image image/png, 12 kB`. */
  description: string;
}

/** What a person gets to see of a result. */
export interface ShownResult {
  text: string;
  attachments: Attachment[];
}

/** Texts plainly, structured results as JSON, all else as attachments. */
export function showResult({ result, content }: ToolCallResponse): ShownResult {
  const isList = isContent(result);
  const blocks = isList ? result : isContent(content) ? content : [];
  const attachments = blocks.flatMap(toAttachment);
  if (isList) return { text: blocks.flatMap(toText).join('\n'), attachments };
  if (typeof result === 'string') return { text: result, attachments };
  // A tool that gave no blocks has nothing to show.
  if (Array.isArray(content) && content.length === 0) return { text: '', attachments };
  const lone = loneText(result);
  return { text: lone ?? (result === null ? '' : printPretty(result)), attachments };
}

/** Many servers wrap their one text: `{"content": "…"}`. A person wants to read it, not its quotes and escapes. */
function loneText(result: unknown): string | undefined {
  const values = isJsonObject(result) ? Object.values(result) : [];
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : undefined;
}

const kinds = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** True for a list of content blocks; a structured result that is a list of anything else is not. */
function isContent(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((block) => isJsonObject(block) && kinds.has(String(block.type)));
}

function toText(block: JsonObject): string[] {
  if (block.type === 'text') return [String(block.text)];
  if (block.type === 'resource_link') return [`${block.name === undefined ? '' : `${String(block.name)}: `}${String(block.uri)}`];
  const { resource } = block;
  if (block.type === 'resource' && isJsonObject(resource) && typeof resource.text === 'string') return [resource.text];
  return [];
}

function toAttachment(block: JsonObject): Attachment[] {
  const holder = block.type === 'resource' && isJsonObject(block.resource) ? block.resource : block;
  const data = block.type === 'resource' ? holder.blob : holder.data;
  if (typeof data !== 'string') return [];
  const bytes = Buffer.from(data, 'base64');
  const mimeType = typeof holder.mimeType === 'string' ? holder.mimeType : 'application/octet-stream';
  const name = typeof holder.uri === 'string' ? ` ${holder.uri}` : '';
  return [{ mimeType, bytes, description: `${String(block.type)}${name}, ${mimeType}, ${toSize(bytes.length)}` }];
}

function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { BoundTool } from '../model.js';
import { toComment, toCommentText } from './comment-text.js';
import { type SchemaTypes, schemaTypes } from './schema-types.js';

export interface ToolDeclaration {
  /** For the `.d.ts` of the server: types and documentation. */
  types: string;
  /** What of its schemas could not be typed. */
  losses: string[];
}

/** A tool as TypeScript sees it: a constant that can be called, and a namespace of the same name with its types. */
export async function toolDeclaration(tool: BoundTool, name: string): Promise<ToolDeclaration> {
  const input = await schemaTypes(asObject(tool.inputSchema), { name: 'Arguments', prefix: '' });
  const output = await resultTypes(tool.outputSchema);
  const kind = needsArguments(tool.inputSchema) ? 'ToolFunction' : 'LenientToolFunction';
  const returned = output === undefined ? '' : `, ${name}.Result`;
  const body = [input, ...(output === undefined ? [] : [output])].map(({ text }) => indent(text.replaceAll(/^export /gm, ''))).join('\n');
  const types =
    `${toComment(docOf(tool))}export declare const ${name}: $client.${kind}<${name}.Arguments${returned}>;\n` +
    `export declare namespace ${name} {\n${body}\n}\n`;
  return { types, losses: [...input.losses, ...(output?.losses ?? [])] };
}

/** What a call resolves to: the structured content, of which a lone `result` is taken out, as the hub does. */
async function resultTypes(schema: unknown): Promise<SchemaTypes | undefined> {
  if (!isJsonObject(schema)) return undefined;
  const { properties } = schema;
  const isWrapped = isJsonObject(properties) && Object.keys(properties).length === 1 && Object.hasOwn(properties, 'result');
  return schemaTypes(isWrapped ? properties.result : schema, { name: 'Result', prefix: 'Result', root: schema });
}

/** Arguments are an object, whatever a server says of them. */
function asObject(schema: unknown): JsonObject {
  const { type: _, nullable: __, ...rest } = isJsonObject(schema) ? schema : {};
  return { ...rest, type: 'object' };
}

function needsArguments(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const isPlain = schema.anyOf === undefined && schema.oneOf === undefined && schema.allOf === undefined && schema.$ref === undefined;
  return !isPlain || (Array.isArray(schema.required) && schema.required.length > 0);
}

function docOf({ name, title, description, annotations }: BoundTool): string {
  const heading = typeof title === 'string' && title !== name ? toCommentText(title) : '';
  const text = typeof description === 'string' ? toCommentText(description) : '';
  const parts = [heading === '' || text.startsWith(heading) ? '' : heading, text, hintsOf(annotations)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function hintsOf(annotations: unknown): string {
  if (!isJsonObject(annotations)) return '';
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  if (readOnlyHint === true) return '@remarks Read-only: it changes nothing.';
  const hints = [
    destructiveHint === true ? 'it may overwrite or delete' : '',
    idempotentHint === true ? 'a second call changes nothing more' : '',
  ];
  const said = hints.filter((hint) => hint !== '').join('; ');
  return said === '' ? '' : `@remarks ${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** The compiler does not indent: each line as deep as the braces before it are. */
function indent(text: string): string {
  let depth = 1;
  let isComment = false;
  const lines = text.split('\n').map((raw) => {
    const line = raw.trim();
    isComment ||= line.startsWith('/**');
    if (!isComment && /^[}\])]/.test(line)) depth--;
    const margin = '  '.repeat(Math.max(1, depth));
    if (!isComment && /[{[(]$/.test(line)) depth++;
    const isInside = isComment && !line.startsWith('/**');
    if (isComment && line.endsWith('*/')) isComment = false;
    return line === '' ? '' : `${margin}${isInside ? ' ' : ''}${line}`;
  });
  return lines.join('\n');
}

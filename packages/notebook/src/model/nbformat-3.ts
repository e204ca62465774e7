import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { toCanonical } from './json.js';
import { parseNotebookJson } from './json-reader.js';

type Join = (lines: readonly string[]) => string;

/**
 * A file of nbformat 2 or 3 as one of 4.5, as `nbformat.v3.upgrade` and `nbformat.v4.upgrade` of Python make it (5.11); of several worksheets
 * the cells follow each other. Throws RangeError for what is nested too deeply.
 */
export function upgradeNotebook({ worksheets, metadata, nbformat, ...more }: JsonObject): JsonObject {
  const join = nbformat === 2 ? joinBare : joinLines;
  const { name: _name, signature: _signature, ...kept } = isJsonObject(metadata) ? metadata : {};
  const { orig_nbformat: _orig, orig_nbformat_minor: _origMinor, nbformat_minor: _minor, ...extra } = more;
  const cells = listOf(worksheets).flatMap((sheet) => listOf(sheet.cells).map((cell) => upgradeCell(cell, join)));
  return toCanonical({ ...extra, nbformat: 4, nbformat_minor: 5, metadata: kept, cells }) as JsonObject;
}

/** nbformat 2 kept lines without their breaks. */
const joinBare: Join = (lines) => lines.join('\n');
/** nbformat 3 keeps them with their breaks, but some programs went on as before. */
const joinLines: Join = (lines) => (/[\n\r]$/.test(lines[0] ?? '') ? lines.join('') : lines.join('\n'));

function upgradeCell(cell: JsonObject, join: Join): JsonObject {
  if (cell.cell_type === 'code') return upgradeCode(cell, join);
  const { level, ...rest }: JsonObject = { metadata: {}, ...cell, source: textOf(cell.source, join) };
  if (cell.cell_type !== 'heading') return { ...rest, cell_type: cell.cell_type === 'html' ? 'markdown' : cell.cell_type };
  const title = String(rest.source)
    .split(/\r\n|\r|\n/)
    .join(' ');
  return { ...rest, cell_type: 'markdown', source: `${'#'.repeat(Math.min(6, Math.max(1, Number(level ?? 1) || 1)))} ${title}` };
}

function upgradeCode(
  { language: _language, collapsed, input, prompt_number, outputs, metadata, ...rest }: JsonObject,
  join: Join,
): JsonObject {
  return {
    ...rest,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...(typeof collapsed === 'boolean' ? { collapsed } : {}) },
    source: textOf(input, join),
    execution_count: prompt_number ?? null,
    outputs: listOf(outputs).map((output) => upgradeOutput(output, join)),
  };
}

function upgradeOutput(output: JsonObject, join: Join): JsonObject {
  switch (output.output_type) {
    case 'pyout':
    case 'display_data': {
      const { output_type: type, prompt_number, metadata, ...data } = output;
      const isResult = type === 'pyout';
      return {
        output_type: isResult ? 'execute_result' : 'display_data',
        ...(isResult ? { execution_count: prompt_number ?? null } : {}),
        metadata: toMimeKeys(isJsonObject(metadata) ? metadata : {}),
        data: withJson(toMimeKeys(Object.fromEntries(Object.entries(data).map(([key, value]) => [key, textOf(value, join)])))),
      };
    }
    case 'pyerr':
      return { ...output, output_type: 'error' };
    case 'stream': {
      const { stream, text, ...rest } = output;
      return { ...rest, text: textOf(text, join), name: stream ?? 'stdout' };
    }
    default:
      return output;
  }
}

const mimeTypes = new Map([
  ['text', 'text/plain'],
  ['html', 'text/html'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['latex', 'text/latex'],
  ['json', 'application/json'],
  ['javascript', 'application/javascript'],
]);

function toMimeKeys(bundle: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(bundle).map(([key, value]) => [mimeTypes.get(key) ?? key, value]));
}

/** Before nbformat 4 JSON was kept as its text. */
function withJson(data: JsonObject): JsonObject {
  const json = data['application/json'];
  if (typeof json !== 'string') return data;
  try {
    return { ...data, 'application/json': parseNotebookJson(json) };
  } catch {
    return data;
  }
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown, join: Join): string {
  if (Array.isArray(value)) return join(value.map(String));
  return typeof value === 'string' ? value : '';
}

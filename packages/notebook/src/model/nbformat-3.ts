import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { parseNotebookJson } from './json-reader.js';
import { toText } from './text.js';

const currentVersion = { nbformat: 4, nbformat_minor: 5 };

/** A file of nbformat 2 or 3 as one of 4, as `nbformat.v4.upgrade` of Python has it; of several worksheets the cells follow each other. */
export function upgradeNotebook({ worksheets, metadata, nbformat: _nbformat, nbformat_minor: _minor, ...more }: JsonObject): JsonObject {
  const { name: _name, signature: _signature, ...kept } = isJsonObject(metadata) ? metadata : {};
  const { orig_nbformat: _orig, orig_nbformat_minor: _origMinor, ...extra } = more;
  const cells = listOf(worksheets).flatMap((sheet) => listOf(sheet.cells).map(upgradeCell));
  return { ...extra, ...currentVersion, metadata: kept, cells };
}

function upgradeCell(cell: JsonObject): JsonObject {
  if (cell.cell_type === 'code') return upgradeCode(cell);
  const { level, ...rest }: JsonObject = { metadata: {}, ...cell };
  if (cell.cell_type === 'heading') {
    const title = asText(cell.source)
      .split(/\r\n|\r|\n/)
      .join(' ');
    return { ...rest, cell_type: 'markdown', source: `${'#'.repeat(Math.min(6, Math.max(1, Number(level ?? 1) || 1)))} ${title}` };
  }
  // HTML is Markdown, too.
  return { ...rest, cell_type: cell.cell_type === 'html' ? 'markdown' : cell.cell_type };
}

function upgradeCode({ language: _language, collapsed, input, prompt_number, outputs, metadata, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...(typeof collapsed === 'boolean' ? { collapsed } : {}) },
    source: asText(input),
    execution_count: prompt_number ?? null,
    outputs: listOf(outputs).map(upgradeOutput),
  };
}

function upgradeOutput(output: JsonObject): JsonObject {
  switch (output.output_type) {
    case 'pyout':
    case 'display_data': {
      const { output_type: type, prompt_number, metadata, ...data } = output;
      const isResult = type === 'pyout';
      return {
        output_type: isResult ? 'execute_result' : 'display_data',
        ...(isResult ? { execution_count: prompt_number ?? null } : {}),
        metadata: toMimeKeys(isJsonObject(metadata) ? metadata : {}),
        data: withJson(toMimeKeys(data)),
      };
    }
    case 'pyerr':
      return { ...output, output_type: 'error' };
    case 'stream': {
      const { stream, ...rest } = output;
      return { ...rest, name: stream ?? 'stdout' };
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
  if (json === undefined) return data;
  try {
    return { ...data, 'application/json': parseNotebookJson(asText(json)) };
  } catch {
    return data;
  }
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return toText(value.map(String));
  return typeof value === 'string' ? value : '';
}

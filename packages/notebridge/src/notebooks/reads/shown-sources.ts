import { parseJson, printJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { ToolResult } from '../../core/mcp.js';
import { tryJson } from '../../util/try-json.js';
import type { ShownSource } from './known-sources.js';

/**
 * An answer of `get_cells`, in which each revision is left out whose source the agent does not have: with it, an edit would replace what
 * nobody has read. `isRead` is told each source that the answer shows, whole or in part, and says whether the agent has all of it now.
 */
export function withReadRevs(result: ToolResult, isRead: (shown: ShownSource) => boolean, readsRanges: boolean): ToolResult {
  const [block, ...others] = Array.isArray(result.content) ? result.content : [];
  const text = result.isError === true ? undefined : block?.text;
  if (block === undefined || typeof text !== 'string') return result;
  const value = tryJson(text);
  if (!isJsonObject(value) || !Array.isArray(value.cells)) return result;
  const unread = new Set<number>();
  for (const [index, cell] of value.cells.entries()) {
    const shown = toShownSource(cell);
    const isKnown = shown !== undefined && isRead(shown);
    if (!isKnown && isJsonObject(cell) && 'rev' in cell) unread.add(index);
  }
  if (unread.size === 0) return result;
  // Outputs keep the digits of their numbers.
  const exact = parseJson(text) as JsonObject & { cells: JsonObject[] };
  const cells = exact.cells.map((cell, index) => (unread.has(index) ? withoutRev(cell) : cell));
  const told = { ...exact, cells, rev_note: readsRanges ? `${notWhole} ${howToRead}` : notWhole };
  const structured = isJsonObject(result.structuredContent) ? { structuredContent: told } : {};
  return { ...result, content: [{ ...block, text: printJson(told) }, ...others], ...structured };
}

const notWhole = 'A source that you have not read whole has no "rev".';
const howToRead = 'Read it with cellId and sourceFrom 0, and on from next_source_from to its end: the last answer has it.';

function withoutRev({ rev: _, ...cell }: JsonObject): JsonObject {
  return cell;
}

function toShownSource(cell: unknown): ShownSource | undefined {
  if (!isJsonObject(cell)) return undefined;
  const { id: cellId, cell_type: type, rev, source_from: from, characters } = cell;
  const source = toSource(cell.source);
  if (typeof cellId !== 'string' || typeof type !== 'string' || source === undefined) return undefined;
  const part = typeof from === 'number' && typeof characters === 'number' ? { from, characters } : undefined;
  return { cellId, type, source, rev: typeof rev === 'number' ? rev : undefined, part };
}

/** Both forms of nbformat: one text, or its lines. */
export function toSource(source: unknown): string | undefined {
  if (typeof source === 'string') return source;
  return Array.isArray(source) && source.every((line) => typeof line === 'string') ? source.join('') : undefined;
}

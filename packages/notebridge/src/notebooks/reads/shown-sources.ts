import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { ShownSource } from './known-sources.js';

/** The sources that an answer of `get_cells` shows, whole or in part. */
export function toShownSources(value: JsonObject | undefined): ShownSource[] {
  return Array.isArray(value?.cells) ? value.cells.flatMap((cell) => toShownSource(cell) ?? []) : [];
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

import type { JsonObject } from '@notebridge/kit/json';
import type { CellContent } from './cell.js';
import { compareCodePoints, keysOf } from './json.js';
import type { MimeBundle, Output } from './output.js';
import { type SplitText, splitAttachments, splitOutput } from './outputs.js';
import { toLines } from './text.js';

/** The keys of a cell in a file, sorted as nbformat does. */
export function diskKeysOf({ type, attachments, extra = {} }: CellContent, hasId: boolean): string[] {
  const ran = type === 'code' ? ['execution_count', 'outputs'] : [];
  const more = [...(hasId ? ['id'] : []), ...(attachments ? ['attachments'] : []), ...keysOf(extra)];
  return [...new Set(['cell_type', 'metadata', 'source', ...ran, ...more])].sort(compareCodePoints);
}

/** What a cell has under a key of a file, with texts as single strings. */
export function memberOf(cell: CellContent, key: string): unknown {
  if (key === 'id' || key === 'source' || key === 'metadata') return cell[key];
  if (key === 'cell_type') return cell.type;
  if (key === 'outputs' && cell.type === 'code') return cell.outputs;
  if (key === 'execution_count' && cell.type === 'code') return cell.executionCount;
  if (key === 'attachments' && cell.attachments) return cell.attachments;
  return cell.extra?.[key];
}

/** The same as the file has it. */
export function diskValue(cell: CellContent, key: string, split: SplitText): unknown {
  const value = memberOf(cell, key);
  if (key === 'source') return split(cell.source);
  if (value === cell.outputs) return cell.outputs.map((output: Output) => splitOutput(output, split));
  if (value === cell.attachments) return splitAttachments(value as { [name: string]: MimeBundle }, split);
  return value;
}

/** The whole cell as nbformat writes it. */
export function toDiskCell(cell: CellContent): JsonObject {
  return Object.fromEntries(diskKeysOf(cell, true).map((key) => [key, diskValue(cell, key, toLines)]));
}

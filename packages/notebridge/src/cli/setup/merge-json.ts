import { visit } from 'jsonc-parser';
import { faultyFile } from '../../config/fault.js';
import { parseJsonDocument } from '../../config/json-document.js';
import { setInJson } from './edit-json.js';
import { assertMerged, lostComment, type Merged, type MergeRequest, misfit, planMerge } from './merge.js';

/**
 * Puts our entry into the text of a JSON file (comments and trailing commas allowed), keeping everything else as it is written.
 *
 * @throws BridgeError `bad_config` for a file that is broken or cannot be edited safely.
 */
export function mergeIntoJson(text: string, request: MergeRequest): Merged {
  const written = text.trim() === '' ? '{}\n' : text;
  const parsed = parseJsonDocument(written);
  if ('faults' in parsed) throw faultyFile(request.file, parsed.faults);
  const before = parsed.document.value;
  const plan = planMerge(before, request);
  if (plan.kind === 'none') return { text, change: 'none', former: plan.former };
  const place = [...request.container, request.name];
  const changes =
    plan.kind === 'add'
      ? [{ path: place, value: request.entry }]
      : Object.entries(plan.keys).map(([key, value]) => ({ path: [...place, key], value }));
  const after = changes.reduce((edited, { path, value }) => setInJson(edited, path, value), written);
  if (countComments(after) < countComments(written)) throw misfit(request, ...lostComment(request));
  assertMerged(before, tryParse(after), request);
  return { text: after, change: plan.kind === 'add' ? 'added' : 'updated', former: plan.former };
}

function tryParse(text: string): unknown {
  const parsed = parseJsonDocument(text);
  return 'document' in parsed ? parsed.document.value : undefined;
}

/** A value that is replaced takes the comments inside it along. */
function countComments(text: string): number {
  let count = 0;
  visit(text, { onComment: () => void count++ });
  return count;
}

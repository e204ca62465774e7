import { type FormattingOptions, applyEdits, modify } from 'jsonc-parser';
import { faultyFile } from '../../config/fault.js';
import { parseJsonDocument } from '../../config/json-document.js';
import { type MergeRequest, type Merged, assertMerged, planMerge } from './merge.js';

/**
 * Puts our entry into the text of a JSON file (comments and trailing commas allowed), keeping everything else as it is written.
 *
 * @throws BridgeError `bad_config` for a file that is broken or cannot be edited safely.
 */
export function mergeIntoJson(text: string, request: MergeRequest): Merged {
  const written = text.trim() === '' ? '{}\n' : text;
  const before = parse(written, request.file);
  const plan = planMerge(before, request);
  if (plan.kind === 'none') return { text, change: 'none' };
  const place = [request.container, request.name];
  const after =
    plan.kind === 'add'
      ? edit(written, place, request.entry)
      : Object.entries(plan.keys).reduce((edited, [key, value]) => edit(edited, [...place, key], value), written);
  assertMerged(before, parse(after, request.file), request);
  return { text: after, change: plan.kind === 'add' ? 'added' : 'updated' };
}

function parse(text: string, file: string): unknown {
  const parsed = parseJsonDocument(text);
  if ('faults' in parsed) throw faultyFile(file, parsed.faults);
  return parsed.document.value;
}

function edit(text: string, path: string[], value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions: formattingOf(text) }));
}

/** Indents as the file does, by its first indented line; two spaces if there is none. */
function formattingOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 1 : indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

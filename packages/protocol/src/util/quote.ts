import { printJson } from '../exact-json.js';

const maxLength = 80;

/** An outside value as an error text shows it: its JSON, cut short. Never throws, whatever a peer made of it. */
export function quote(value: unknown): string {
  try {
    const text = printJson(value) ?? 'nothing';
    return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  } catch {
    return 'something that cannot be printed';
  }
}

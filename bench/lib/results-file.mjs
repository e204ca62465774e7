import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../results.md', import.meta.url));
const parts = ['crossing', 'notebook', 'gateways', 'bindings'];

/** Writes one part of results.md; the others stay as they are. Each begins with a comment that names it. */
export function writeResults(part, markdown) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const known = parts.map((name) => [name, name === part ? markdown : (partOf(text, name) ?? '')]).filter(([, found]) => found !== '');
  writeFileSync(file, known.map(([name, found]) => `<!-- ${name} -->\n\n${found.trim()}\n`).join('\n'));
}

function partOf(text, name) {
  const [, found] = new RegExp(`^<!-- ${name} -->\\n([^]*?)(?=^<!-- (?:${parts.join('|')}) -->$|$(?![^]))`, 'm').exec(text) ?? [];
  return found;
}

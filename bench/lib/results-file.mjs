import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toAimRows, toAimsMarkdown } from '../aims.mjs';

const file = fileURLToPath(new URL('../results.md', import.meta.url));
const parts = [
  'aims',
  'crossing',
  'stdio',
  'notebook',
  'gateways',
  'bindings',
  'jupyterlab',
  'outputs',
  'pages',
  'questions',
  'code-mode',
  'code-mode-tasks',
  'code-mode-execute',
  'code-mode-check',
  'watching',
  'cluster',
];

/** Writes one part of results.md, and its rows among the aims; the others stay as they are. Each begins with a comment that names it. */
export function writeResults(part, markdown, results) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const aimRows = toAimRows(part, results, rowsOf(partOf(text, 'aims')));
  const written = { aims: aimRows.length === 0 ? '' : `# Bench: what calls cost\n\n${toAimsMarkdown(aimRows)}`, [part]: markdown };
  const known = parts.map((name) => [name, written[name] ?? partOf(text, name)]).filter(([, found]) => found !== '');
  writeFileSync(file, known.map(([name, found]) => `<!-- ${name} -->\n\n${found.trim()}\n`).join('\n'));
}

function partOf(text, name) {
  const [, found = ''] = new RegExp(`^<!-- ${name} -->\\n([^]*?)(?=^<!-- (?:${parts.join('|')}) -->$|$(?![^]))`, 'm').exec(text) ?? [];
  return found;
}

/** The cells of a table. */
function rowsOf(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

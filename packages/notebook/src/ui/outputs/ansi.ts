import { type Pen, penAfter, plainPen } from '../../model/pen.js';
import { inkOn, legible } from './legible-colour.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequence = /\x1b\[([0-9;:]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]/g;

/** Changes of the look in one text. What comes behind the last of them is shown without colours, as one run. */
const maxRuns = 2000;

/** Controls that mean nothing here. A browser looks in all its fonts for a picture of each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the controls.
const strays = /[\x00-\x08\x0e-\x1f\x7f]/g;

/** Turns text with ANSI colours into text nodes and spans; the pen goes on from one piece to the next. */
export class AnsiWriter {
  #pen: Pen = plainPen;
  #runs = 0;

  write(target: Node, text: string): void {
    let from = 0;
    if (this.#runs < maxRuns)
      for (const found of text.matchAll(sequence)) {
        this.#put(target, text.slice(from, found.index));
        from = found.index + found[0].length;
        if (found[2] === 'm') this.#pen = penAfter(this.#pen, found[1] ?? '');
        if (++this.#runs >= maxRuns) break;
      }
    if (this.#runs >= maxRuns) this.#pen = plainPen;
    this.#put(target, this.#runs < maxRuns ? text.slice(from) : withoutAnsi(text.slice(from)));
  }

  #put(target: Node, written: string): void {
    const text = written.replace(strays, '');
    if (text === '') return;
    const { styles } = this.#pen;
    const [colour, background] = [colourOf(this.#pen.colour), colourOf(this.#pen.background)];
    const classes = styles.map((style) => `ansi-${style}`);
    if (colour && !colour.startsWith('rgb')) classes.push(`ansi-fg-${colour}`);
    if (background && !background.startsWith('rgb')) classes.push(`ansi-bg-${background}`);
    const names = classes.join(' ');
    if (!names && !colour && !background) return void target.appendChild(document.createTextNode(text));
    const span = document.createElement('span');
    span.className = names;
    span.textContent = text;
    const hasOwnGround = background?.startsWith('rgb') === true;
    if (colour?.startsWith('rgb')) span.style.color = hasOwnGround ? colour : legible(colour);
    if (hasOwnGround) span.style.backgroundColor = background;
    if (hasOwnGround && !colour) span.style.color = inkOn(background);
    target.appendChild(span);
  }
}

/** A text without its escape sequences. */
export function withoutAnsi(text: string): string {
  return text.replace(sequence, '');
}

/** The first 16 follow the theme, by their number; the others are what they are, as far as they can be read. */
function colourOf(codes: string | undefined): string | undefined {
  if (codes === undefined) return undefined;
  const [code = 0, mode, a = 0, b = 0, c = 0] = codes.split(';').map(Number);
  if (mode === undefined) return String((code % 10) + (code >= 90 ? 8 : 0));
  if (mode === 2) return `rgb(${a}, ${b}, ${c})`;
  if (a < 16) return String(a);
  if (a >= 232) return grey(8 + (a - 232) * 10);
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = a - 16;
  return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`;
}

function grey(value: number): string {
  return `rgb(${value}, ${value}, ${value})`;
}

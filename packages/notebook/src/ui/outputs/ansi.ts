import { inkOn, legible } from './legible-colour.js';

/** The look of a run of text. */
interface Pen {
  colour: string | undefined;
  background: string | undefined;
  styles: readonly Style[];
}

type Style = 'bold' | 'dim' | 'italic' | 'underlined' | 'inverse';

const plainPen: Pen = { colour: undefined, background: undefined, styles: [] };
const switchedOn: { readonly [code: number]: Style } = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underlined', 7: 'inverse' };
const switchedOff: { readonly [code: number]: readonly Style[] } = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underlined'],
  27: ['inverse'],
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequence = /\x1b\[([0-9;:]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]/g;

/** Changes of the look in one text. What comes behind the last of them is shown without colours, as one run. */
const maxRuns = 2000;
/** Of one sequence; nobody sets more at once. */
const maxCodes = 32;

/** Controls that mean nothing here. A browser looks in all its fonts for a picture of each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the controls.
const strays = /[\x00-\x08\x0e-\x1f\x7f]/g;

/** Turns text with ANSI colours into text nodes and spans; the pen goes on from one piece to the next. */
export class AnsiWriter {
  #pen = plainPen;
  #runs = 0;

  write(target: Node, text: string): void {
    let from = 0;
    if (this.#runs < maxRuns)
      for (const found of text.matchAll(sequence)) {
        this.#put(target, text.slice(from, found.index));
        from = found.index + found[0].length;
        if (found[2] === 'm') this.#pen = withCodes(this.#pen, (found[1] ?? '').split(/[;:]/, maxCodes).map(Number));
        if (++this.#runs >= maxRuns) break;
      }
    if (this.#runs >= maxRuns) this.#pen = plainPen;
    this.#put(target, this.#runs < maxRuns ? text.slice(from) : withoutAnsi(text.slice(from)));
  }

  #put(target: Node, written: string): void {
    const text = written.replace(strays, '');
    if (text === '') return;
    const { colour, background, styles } = this.#pen;
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

function withCodes(before: Pen, codes: readonly number[]): Pen {
  let pen = { ...before };
  const without = (styles: readonly Style[]) => pen.styles.filter((style) => !styles.includes(style));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const [style, ended] = [switchedOn[code], switchedOff[code]];
    if (code === 0) pen = { ...plainPen };
    else if (style) pen.styles = [...without([style]), style];
    else if (ended) pen.styles = without(ended);
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(codes.slice(at + 1));
      if (code === 38) pen.colour = colour;
      else pen.background = colour;
      at += used;
    } else if (code === 39) pen.colour = undefined;
    else if (code === 49) pen.background = undefined;
    else if (code >= 30 && code <= 37) pen.colour = String(code - 30);
    else if (code >= 90 && code <= 97) pen.colour = String(code - 90 + 8);
    else if (code >= 40 && code <= 47) pen.background = String(code - 40);
    else if (code >= 100 && code <= 107) pen.background = String(code - 100 + 8);
  }
  return pen;
}

/** `5;n` of 256 colours, or `2;r;g;b`. The first 16 follow the theme, the others are what they are, as far as they can be read. */
function extended([mode, a = 0, b = 0, c = 0]: readonly number[]): { colour: string | undefined; used: number } {
  if (mode === 2) return { colour: `rgb(${a}, ${b}, ${c})`, used: 4 };
  if (mode !== 5) return { colour: undefined, used: 1 };
  if (a < 16) return { colour: String(a), used: 2 };
  if (a >= 232) return { colour: grey(8 + (a - 232) * 10), used: 2 };
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = a - 16;
  return { colour: `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`, used: 2 };
}

function grey(value: number): string {
  return `rgb(${value}, ${value}, ${value})`;
}

/** How characters look: the numbers of a terminal's SGR sequences, as ECMA-48 and xterm have them. */
export interface Pen {
  /** As the codes that set it: `31`, `38;5;208`, `38;2;255;0;0`. */
  readonly colour?: string;
  readonly background?: string;
  readonly styles: readonly Style[];
}

export type Style = 'bold' | 'dim' | 'italic' | 'underlined' | 'inverse';

export const plainPen: Pen = { styles: [] };

const codeOf: { readonly [style in Style]: number } = { bold: 1, dim: 2, italic: 3, underlined: 4, inverse: 7 };
const switchedOn = new Map(Object.entries(codeOf).map(([style, code]) => [code, style as Style]));
const switchedOff = new Map<number, readonly Style[]>([
  [22, ['bold', 'dim']],
  [23, ['italic']],
  [24, ['underlined']],
  [27, ['inverse']],
]);
/** Of one sequence; nobody sets more at once. */
const maxCodes = 32;

/** The pen after a sequence with these parameters: `1;31`. */
export function penAfter(before: Pen, parameters: string): Pen {
  const codes = parameters.split(/[;:]/, maxCodes).map((code) => Math.min(255, Number(code) || 0));
  let { colour, background, styles } = before;
  const without = (off: readonly Style[]) => styles.filter((style) => !off.includes(style));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const [on, off] = [switchedOn.get(code), switchedOff.get(code)];
    if (code === 0) [colour, background, styles] = [undefined, undefined, []];
    else if (on) styles = [...without([on]), on];
    else if (off) styles = without(off);
    else if (code === 38 || code === 48) {
      const used = codes[at + 1] === 2 ? 5 : codes[at + 1] === 5 ? 3 : 0;
      const value = used === 0 ? undefined : Array.from({ length: used }, (_, index) => codes[at + index] ?? 0).join(';');
      if (code === 38) colour = value;
      else background = value;
      at += Math.max(1, used - 1);
    } else if (code === 39) colour = undefined;
    else if (code === 49) background = undefined;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = String(code);
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) background = String(code);
  }
  return { styles, ...(colour === undefined ? {} : { colour }), ...(background === undefined ? {} : { background }) };
}

/** The parameters that make a plain pen this one; empty for a plain one. */
export function codesOf({ colour, background, styles }: Pen): string {
  return [...styles.map((style) => codeOf[style]), ...(colour ? [colour] : []), ...(background ? [background] : [])].join(';');
}

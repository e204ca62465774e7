/** A place in code as Jupyter counts it: in characters, where JavaScript counts halves of them. */
export function toCodePoints(text: string, position: number): number {
  return [...text.slice(0, position)].length;
}

/** The way back. */
export function toUtf16(text: string, position: number): number {
  return [...text].slice(0, position).join('').length;
}

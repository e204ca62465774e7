/** As much from the beginning as is within so many characters of JSON, and no character cut in two. */
export function fitPart(text: string, max: number): string {
  let part = text.slice(0, max);
  while (JSON.stringify(part).length > max) part = part.slice(0, Math.floor((part.length * max) / JSON.stringify(part).length) - 1);
  return part.length < text.length ? part.slice(0, wholeCharacter(text, part.length)) : part;
}

/** Not the second half of one. */
export function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

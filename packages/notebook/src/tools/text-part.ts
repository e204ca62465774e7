/** As much from the beginning as is within so many characters of JSON, and no character cut in two. `toAnswer`: how it is answered. */
export function fitPart(text: string, max: number, toAnswer: (part: string) => unknown = String): string {
  const sizeOf = (part: string) => JSON.stringify(toAnswer(part)).length;
  let part = text.slice(0, Math.max(0, max));
  while (part !== '' && sizeOf(part) > max) part = part.slice(0, Math.max(0, Math.floor((part.length * max) / sizeOf(part)) - 1));
  return part.length < text.length ? part.slice(0, wholeCharacter(text, part.length)) : part;
}

/** Not the second half of one. */
export function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

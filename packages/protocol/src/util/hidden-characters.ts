/** Controls, marks of direction, separators, half surrogates, private characters, and all that looks like nothing or like a space. */
const hidden = /[\p{Cc}\u2800\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** Marks that stand on no letter, or on top of more than any language has: they cover what stands around them. */
const stacked = /(?<![\p{L}\p{M}\p{N}])\p{M}+|(?<=\p{M}{3})\p{M}+/gu;

/** A text with what is `hidden` or `stacked` written out, `\u{202e}`: line breaks and tabs too, letters that look like others not. */
export function writeOutHidden(text: string): string {
  return text.replaceAll(hidden, writeOut).replaceAll(stacked, (marks) => Array.from(marks, writeOut).join(''));
}

function writeOut(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** A text on one line, with nothing in it that a reader does not see. */
export function withoutHidden(text: string): string {
  return text.replaceAll(hidden, ' ').replaceAll(/ +/g, ' ').trim();
}

/** Marks that change the direction of what follows, and other characters that show nothing or end a line: none may hide in a comment. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const maxLength = 4000;

/** A text of a server as it may stand in a comment: it cannot end the comment, and nothing in it is invisible. */
export function toCommentText(text: string): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(hidden, ' ')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('*/', '*\u2215')
    .replaceAll(/[ \t]+$/gm, '')
    .trim();
}

/** A comment of these lines; nothing if there are none. */
export function toComment(text: string, indent = ''): string {
  if (text === '') return '';
  const lines = text.split('\n');
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

const divider = '. The end of its stderr:\n';

/** Why a server is not up, followed by what it printed last, if there is any. */
export function withLastLines(what: string, lines: readonly string[]): string {
  return lines.length === 0 ? what : `${what}${divider}${lines.join('\n')}`;
}

/** The same without what the server printed: on one line, since an error may repeat it. */
export function withoutLastLines(text: string): string {
  const [before = ''] = text.split(divider, 1);
  return before.split('\n', 1)[0] ?? '';
}

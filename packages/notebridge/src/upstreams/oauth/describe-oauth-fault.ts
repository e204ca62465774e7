import { isJsonObject } from '@notebridge/protocol/json';

/** What became of a request to an authorization server, without what it wrote itself: that may hold anything, also the secret that it was sent. */
export function describeOAuthFault(error: unknown, who = 'its authorization server'): string {
  if (!(error instanceof Error)) return 'the authorization server could not be asked';
  const { code, name, cause } = error as Error & { code?: unknown };
  if (isJsonObject(cause) || cause instanceof Error) {
    const inner = (cause as { code?: unknown }).code;
    if (typeof inner === 'string') return `${who} does not answer (${inner})`;
  }
  if (typeof code === 'string' && /^[a-z_]{1,60}$/.test(code)) return `its authorization server answers "${code}"`;
  // Without a description of its own it has the code that was sent, whatever that is.
  if (name === 'OAuthError') return 'its authorization server answers with an error of its own';
  // The engine, and what checks shapes, quote what they do not like.
  if (error instanceof SyntaxError || name.endsWith('ZodError')) return 'its authorization server answers with what is no answer of OAuth';
  const [, address] = /^Protected resource (\S{1,300}) does not match expected /.exec(upToOdd(error.message)) ?? [];
  if (address !== undefined)
    return `the server says that its address is ${address}, which is not the "url" of its entry; correct one of them`;
  return `${who} could not be used (${name}: ${upToOdd(error.message).slice(0, 300)})`;
}

/** Up to the first character that could deceive a reader: a line break, one that turns the direction of text, one that is not seen. */
function upToOdd(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}].*/su, '');
}

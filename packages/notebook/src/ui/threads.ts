/** The files of the window that run in threads of their own. */
type ThreadName = 'markdown' | 'find';

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (name: string) => string }): { createScriptURL(name: string): unknown };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Throws where no thread can be started. */
export function startThread(name: ThreadName): Worker {
  return new Worker(addressOf(name) as string, { type: 'module', name });
}

/** The page's policy lets these addresses become threads, by a policy that knows no others (`trusted-types notebridge-thread`). */
function addressOf(name: ThreadName): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('notebridge-thread', { createScriptURL: toAddress });
  return policy ? policy.createScriptURL(name) : toAddress(name);
}

function toAddress(name: string): string {
  return new URL(name === 'find' ? 'find.js' : 'markdown.js', document.baseURI).href;
}

/** The page in which scripts of outputs run. */
export const sandboxedPath = '/sandboxed.html';

/**
 * It has no origin, whoever opens it, and no network: nothing is loaded but what stands in it, or in `data:` and `blob:` addresses. Markup
 * becomes elements by its own policy only (`ui/sandboxed/confine.ts`). Charts compile what they draw, so code from text is allowed.
 */
const content = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' data: blob:",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "worker-src 'none'",
  "child-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
  'trusted-types default',
];

export const sandboxedHeaders: Record<string, string> = headersOf(content);

/** The page in which widgets are shown: the same, but that no code runs in it than its own, whatever a kernel has it show. */
export const widgetsPath = '/widgets.html';

/** The nonce is of this one answer. */
export function widgetsHeaders(nonce: string): Record<string, string> {
  const own: { readonly [directive: string]: string } = {
    'script-src': `'nonce-${nonce}'`,
    // What an Output widget shows goes through the sanitiser.
    'trusted-types': 'default dompurify',
  };
  return headersOf(
    content.map((directive) => {
      const [name = ''] = directive.split(' ', 1);
      return own[name] === undefined ? directive : `${name} ${own[name]}`;
    }),
  );
}

function headersOf(policy: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'referrer-policy': 'no-referrer',
  };
}

import { createHash } from 'node:crypto';
import { ownPackageFolder, readOwnBytes } from '@notebridge/system/files/own-files';
import { type HttpContext, sendBody } from '../http/http-context.js';
import { sendTagged } from './entity-tag.js';

/** Where the page stands. */
const docsPath = '/docs';

/** Everything from this server. The page sets styles by script, and its icons are data URLs. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Notebridge: tool proxy</title>
    <link rel="stylesheet" href="${docsPath}/static/swagger-ui.css">
    <link rel="icon" type="image/png" href="${docsPath}/static/favicon-32x32.png" sizes="32x32">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${docsPath}/static/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/static/start.js"></script>
  </body>
</html>
`;

/** "Try it out" calls from our own origin, with the token that a person types; the page keeps it no longer than it is open. */
const settings = {
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  supportedSubmitMethods: ['get', 'post'],
  deepLinking: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
};

const script = 'application/javascript; charset=utf-8';

/** Files of Swagger UI, which the build lays beside the program, and what they are. */
const files = new Map([
  ['favicon-32x32.png', 'image/png'],
  ['swagger-ui-bundle.js', script],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
]);

/** The paths of the page and of its parts. */
export const docsPaths = [docsPath, `${docsPath}/`, ...['start.js', ...files.keys()].map((name) => `${docsPath}/static/${name}`)];

/** Responds with the documentation page of the routes, without anything from elsewhere, or with a part of it. */
export async function answerDocs(path: string, context: HttpContext): Promise<void> {
  const { response, headers } = context;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const policy = ['content-security-policy', contentSecurityPolicy];
  const type = files.get(name);
  if (type !== undefined) {
    const { body, tag } = await fileOf(name);
    return sendTagged(context, { tag, type, body, headers: ['cache-control', 'public, max-age=0', ...policy] });
  }
  const [body, ownType] = name === 'start.js' ? [`SwaggerUIBundle(${JSON.stringify(settings)});\n`, script] : [page, html];
  sendBody(response, 200, body, [...headers, ...policy, 'content-type', ownType]);
}

const html = 'text/html; charset=utf-8';

interface DocsFile {
  body: Buffer;
  tag: string;
}

const kept = new Map<string, Promise<DocsFile>>();

/**
 * Each file is read once, and all answers share its bytes: anyone may ask for it, thousands of times at once, and must cost neither a
 * descriptor nor a copy with each.
 */
function fileOf(name: string): Promise<DocsFile> {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const file = readFileOf(name);
  kept.set(name, file);
  // What failed is tried anew by the next request.
  file.catch(() => kept.delete(name));
  return file;
}

async function readFileOf(name: string): Promise<DocsFile> {
  const body = await readOwnBytes(ownPackageFolder(), `dist/docs-page/${name}`);
  return { body, tag: createHash('sha256').update(body).digest('base64url') };
}

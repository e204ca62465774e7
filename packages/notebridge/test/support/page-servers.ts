import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { PageServer, type PageServerOptions } from '../../src/notebooks/pages/page-server.js';
import { pageProfiles } from '../../src/notebooks/profiles/page-profiles.js';
import type { PageAnswer, RawPage } from './raw-page.js';

export const pageOrigin = 'https://page.example';
const resumeKey = 'notebridge/resume_token';

/** A state folder of its own, and the servers of pages that were opened on it, one after the other. */
export class PageServers implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'notebridge-pages-'));
  readonly file = join(this.dir, 'pages.json');
  readonly warnings: string[] = [];
  readonly #servers: PageServer[] = [];

  async open(options: Partial<PageServerOptions> = {}): Promise<PageServer> {
    const warn = (message: string): void => void this.warnings.push(message);
    const logger = { debug() {}, info() {}, warn, error: warn };
    const server = await PageServer.open({ dir: this.dir, profiles: pageProfiles, openTool: 'open', logger, portTimeoutMs: 0, ...options });
    this.#servers.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A page of one's own: the address of its notebook. */
export function ownPage(key: string): { key: string; profile: string; url: string; allowOrigins: string[] } {
  return { key, profile: 'page', url: `${pageOrigin}/${key}`, allowOrigins: [pageOrigin] };
}

/** Answers as a page that keeps the resume token it is given. */
export function keepToken({ method, params }: JsonObject): PageAnswer {
  if (method !== 'initialize') return undefined;
  const { protocolVersion } = params as JsonObject;
  return { result: { protocolVersion, capabilities: {}, serverInfo: { name: 'page', version: '1' }, _meta: { [resumeKey]: true } } };
}

/** The token that the page was offered; undefined for none. */
export async function tokenOffered(page: RawPage): Promise<string | undefined> {
  const { params } = await page.message('initialize');
  return ((params as JsonObject)._meta as JsonObject | undefined)?.[resumeKey] as string | undefined;
}

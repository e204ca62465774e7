import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHttpCodeAgent } from '../support/code-mode.js';
import { openModernAgent } from '../support/http-agent.js';
import { deployFolder } from '../support/manifests.js';
import { ServedHub } from '../support/served-hub.js';

describe("code mode in the hub's image, which has no program for a sandbox", { timeout: 120_000 }, () => {
  let empty: string;
  beforeAll(() => {
    empty = mkdtempSync(join(tmpdir(), 'image-'));
  });
  afterAll(() => rmSync(empty, { recursive: true, force: true }));
  const start = (env: Record<string, string>): Promise<ServedHub> =>
    ServedHub.start({
      notebridge: { telemetry: { metrics: true } },
      args: ['--notebook', 'none', '--code-mode'],
      env: { PATH: empty, ...env },
    });
  /** As the container file sets it. */
  const ofImage = (): Record<string, string> => {
    const [, mode = ''] = /^ENV .*\bNOTEBRIDGE_SANDBOX=(\w+)/m.exec(readFileSync(join(deployFolder, 'hub.Dockerfile'), 'utf8')) ?? [];
    return { NOTEBRIDGE_SANDBOX: mode };
  };
  const starts = async (hub: ServedHub, outcome: string): Promise<number> => {
    const text = await (await hub.request('/metrics', { token: hub.ownerToken })).text();
    return Number(new RegExp(`^notebridge_kernel_starts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  it('runs nothing, says why and how it is allowed, and counts it', { tags: ['P-723', 'P-720'] }, async () => {
    await using hub = await start(ofImage());
    const agent = toHttpCodeAgent(openModernAgent(hub, () => hub.ownerToken));
    const { code, texts } = await agent.execute({ code: 'print(6 * 7)' });
    expect(code).toBe('kernel_failed');
    expect(texts.join('')).toMatch(
      /nothing was run: .*There is no sandbox for Python.*bubblewrap is not installed.*NOTEBRIDGE_SANDBOX=auto/,
    );
    expect(await starts(hub, 'failed')).toBeGreaterThan(0);
    expect(await starts(hub, 'ok')).toBe(0);
  });

  it('runs code where that is allowed, and says what is missing', { tags: ['deep', 'P-723', 'P-720'] }, async () => {
    await using hub = await start({ ...ofImage(), NOTEBRIDGE_SANDBOX: 'auto' });
    const agent = toHttpCodeAgent(openModernAgent(hub, () => hub.ownerToken));
    const { status, texts } = await agent.execute({ code: 'print(6 * 7)' });
    expect([status, texts.join('')]).toEqual(['ok', expect.stringMatching(/42[\s\S]*"operating system" is not active/)]);
    expect(await starts(hub, 'ok')).toBeGreaterThan(0);
  });
});

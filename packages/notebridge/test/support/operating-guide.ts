import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { natsPackages } from '@notebridge/cluster/nats/connect-nats';
import { expect } from 'vitest';
import { conventionsCommit } from '../../src/telemetry/conventions.js';
import { otlpPackages } from '../../src/telemetry/load-otlp.js';
import { installedServer, ServedHub } from './served-hub.js';

type Shell = (code: string, env: Record<string, string>) => Promise<{ stdout: string | Buffer }>;

/** What is done with the snippets of docs/operating.md and docs/operate/running.md. */
export function operatingRuns(shell: Shell): Record<string, (code: string) => Promise<void>> {
  return {
    /** test/e2e/backup.test.ts runs both, and looks at what they leave. */
    async 'operate-backup'(code) {
      expect(code).toContain('--file notebridge-state.tgz');
    },
    async 'operate-restore'(code) {
      expect(code).toContain('--file notebridge-state.tgz');
    },
    async 'operating-status'(code) {
      await using hub = await ServedHub.start({
        servers: { fs: installedServer('filesystem', ['${HOME}']) },
        args: ['--notebook', 'none'],
      });
      await hub.logged('running on stdio');
      const { stdout } = await shell(code, hub.env);
      expect(stdout).toContain(`Hub      ${hub.url}`);
      expect(stdout).toMatch(/^Servers {2}1, [01] running: fs$/m);
      expect(stdout).toMatch(/Serving\. \(url: /);
    },
    async 'operating-watch'(code) {
      await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
      const { stdout } = await shell(code, hub.env);
      const token = String(stdout).trim();
      expect(await (await hub.request('/api/v1/hub', { token })).json()).toMatchObject({ role: 'watcher' });
      expect((await hub.request('/metrics', { token })).status).toBe(404);
    },
    /** It stays, so it is looked at without that. */
    async 'operating-token'(code) {
      await using hub = await ServedHub.start({ notebridge: { telemetry: { metrics: true } }, args: ['--notebook', 'none'] });
      expect(code).toMatch(/ --keep$/);
      await shell(`cd "$HOME" && ${code.replace(/ --keep$/, '')}`, hub.env);
      const token = readFileSync(join(hub.home, 'prometheus.token'), 'utf8').trim();
      expect((await hub.request('/metrics', { token })).status).toBe(200);
    },
    /** test/e2e/traces.test.ts has the rest of it. */
    async 'operating-traces'(code) {
      expect(code.replaceAll('\\\n', '').split(/\s+/)).toEqual(['npm', 'install', ...otlpPackages]);
      const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      const { peerDependencies } = JSON.parse(read('package.json')) as { peerDependencies: Record<string, string> };
      const ranges = Object.entries(peerDependencies).map(
        ([name, range]) => `${name}@${range.replace('^', '').replace(/^([1-9]\d*|0\.\d+).*/, '$1')}`,
      );
      // Of both optional parts: the other is that of clusters.
      expect(ranges.sort()).toEqual([...otlpPackages, ...natsPackages].sort());
      expect(read('../../docs/operating.md')).toContain(conventionsCommit);
    },
    async 'operating-console'(code) {
      await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
      // On a machine without a screen the address is printed.
      const { stdout } = await shell(code, { ...hub.env, BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' });
      expect(stdout).toMatch(new RegExp(`^${hub.url}/console#code=`));
    },
  };
}

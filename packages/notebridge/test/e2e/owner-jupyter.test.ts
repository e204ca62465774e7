// @module-tag deep
// @module-tag P-503

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';

it(
  'shows its owner the notebooks of JupyterLab that agents use, and stops and restarts their kernels',
  async () => {
    const lab = await TestLab.start();
    try {
      await lab.write('seen.ipynb', [codeCell('one', 'a = 1')]);
      await using hub = await ServedHub.start({ args: ['--notebook', 'jupyter'], env: { JUPYTER_RUNTIME_DIR: lab.runtimeDir } });
      const ask = async (path: string, body?: JsonObject): Promise<JsonObject> => {
        const answer = await hub.request(`/api/v1/hub/notebooks${path}`, {
          token: hub.ownerToken,
          ...(body === undefined ? {} : { body }),
        });
        return { ...((await answer.json()) as JsonObject), status: answer.status };
      };
      const until = async (state: string): Promise<JsonObject> => {
        for (;;) {
          const [found] = (await ask('')).notebooks as JsonObject[];
          if (found?.state === state) return found;
        }
      };
      expect(await ask('')).toMatchObject({ notebooks: [] });
      const agent = await openLegacyAgent(hub, () => hub.ownerToken);
      const call = async (name: string, args: JsonObject): Promise<string> =>
        JSON.stringify((await agent('tools/call', { name, arguments: args })).result);
      expect(await call('connect_notebook', { notebook: 'seen.ipynb' })).toContain('connected');
      const running = call('run_code', { code: 'b = 1\nimport time\nopen("begun", "w").close()\ntime.sleep(600)' });
      // A kernel is busy before the cell is its turn.
      await expect.poll(() => existsSync(join(lab.folder, 'begun')), { timeout: 60_000 }).toBe(true);
      const seen = await until('busy');
      expect(seen).toMatchObject({
        ...{
          id: 'jupyter-1',
          kind: 'jupyter',
          title: 'seen.ipynb',
          location: `${lab.baseUrl}lab/tree/seen.ipynb`,
          windows: null,
          lease: null,
        },
        isolation: expect.stringContaining('the files, packages and network'),
        last_call: { agent: null, at: expect.any(String) },
        can: ['stop', 'restart', 'undo'],
      });
      expect(JSON.stringify(seen)).not.toContain(lab.token);
      expect(await ask('/jupyter-1/stop', {})).toMatchObject({ status: 200 });
      expect(await running).toContain('KeyboardInterrupt');
      expect(await ask('/jupyter-1/restart', {})).toMatchObject({ status: 200 });
      expect(await call('run_code', { code: 'print("b" in globals())' })).toContain('False');
      expect(await ask('/jupyter-1/address', {})).toMatchObject({ status: 422, detail: expect.stringContaining('its own address') });
      expect(await ask('/jupyter-1/lease', {})).toMatchObject({ status: 422, detail: expect.stringContaining('not kept apart') });
    } finally {
      await lab.close();
    }
  },
  installTimeoutMs,
);

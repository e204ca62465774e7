import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { installedServer, ServedHub } from '../support/served-hub.js';

/** Programs of Python's world on both sides of the hub. */
const preparePython = () => pythonWith(['mcp-server-time', 'schemathesis'], { environment: 'agents' });
const installMs = 10 * 60_000;

it('a server from PyPI, in a virtual environment, is started and called', { timeout: installMs }, async () => {
  const python = await preparePython();
  const server = { command: join(dirname(python), 'mcp-server-time'), args: ['--local-timezone', 'UTC'] };
  await using hub = await ServedHub.start({ servers: { time: server } });
  const { token } = await hub.grant('--allow', 'time:convert_time');
  const asked = { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' };
  const { status, answer } = await hub.call('time', 'convert_time', asked, token);
  expect(status).toBe(200);
  expect(answer).toMatchObject({ success: true, result: { time_difference: '+9.0h' } });
  expect((await hub.run('call', 'time', 'convert_time', JSON.stringify(asked))).stdout).toContain('21:00');
});

it('schemathesis finds no answer that the OpenAPI document does not promise', { timeout: installMs }, async () => {
  const python = await preparePython();
  await using hub = await ServedHub.start({ servers: { everything: installedServer('everything') } });
  // Only what answers at once: the tool to be found by chance may be one that takes minutes.
  const { token } = await hub.grant('--allow', 'everything:echo', '--calls', '100000');
  const settings = join(hub.home, 'schemathesis.toml');
  writeFileSync(settings, '[parameters]\n"path.server" = "everything"\n"path.tool" = "echo"\n');
  const run = promisify(execFile)(
    join(dirname(python), 'schemathesis'),
    [
      ...['--config-file', settings, 'run', `${hub.url}/openapi.json`, '--header', `Authorization: Bearer ${token}`],
      // A key that came with another call is refused, as the IETF draft of Idempotency-Key has it; a fuzzer cannot know which those are.
      ...['--exclude-checks', 'positive_data_acceptance'],
      ...['--max-examples', '30', '--request-timeout', '20', '--continue-on-failure', '--generation-deterministic'],
    ],
    { cwd: hub.home, timeout: 500_000, maxBuffer: 1 << 26 },
  );
  const { stdout } = await run.catch((error: { stdout?: string; message: string }) => {
    throw new Error(`schemathesis has found something:\n${error.stdout?.slice(-6000) ?? error.message}`);
  });
  expect(stdout).toMatch(/\d+ generated, \d+ passed/);
});

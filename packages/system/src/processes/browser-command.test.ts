// @module-tag deep

import { describe, expect, it } from 'vitest';
import { launchDetached, parseBrowserVariable, watchLaunch } from './browser-command.js';

const url = 'https://example.com/#token=a%s&port=1';

describe('parseBrowserVariable', () => {
  it.each([
    ['firefox', [['firefox', url]]],
    [
      'firefox:chromium',
      [
        ['firefox', url],
        ['chromium', url],
      ],
    ],
    ['firefox --new-tab %s', [['firefox', '--new-tab', url]]],
    ['app --url=%s --rate=50%%', [['app', `--url=${url}`, '--rate=50%']]],
    ['"/opt/my browser/run" \'a b\' &', [['/opt/my browser/run', 'a b', url]]],
    ['C:\\Apps\\browser.exe', [['C:\\Apps\\browser.exe', url]]],
    ['helper --via http://proxy %s', [['helper', '--via', 'http://proxy', url]]],
    [' : "" x :', []],
  ])('reads %j', (variable, expected) => {
    expect(parseBrowserVariable(variable, url)).toEqual(expected);
  });

  it('gives shell characters no meaning', () => {
    expect(parseBrowserVariable('run $(id) `id` ; | > x', url)).toEqual([['run', '$(id)', '`id`', ';', '|', '>', 'x', url]]);
  });
});

describe('watchLaunch', () => {
  const run = (code: string) => launchDetached([process.execPath, '-e', code], process.env);

  it('reports a good end, a bad end, a signal, and a program that does not exist', async () => {
    expect(await watchLaunch(run(''), 10_000)).toEqual({ kind: 'ended' });
    expect(await watchLaunch(run('process.exit(3)'), 10_000)).toEqual({ kind: 'failed', why: 'it ended with exit code 3' });
    expect(await watchLaunch(run('process.kill(process.pid, "SIGKILL")'), 10_000)).toEqual({
      kind: 'failed',
      why: 'it was ended by SIGKILL',
    });
    expect(await watchLaunch(launchDetached(['/no/such/browser'], {}), 10_000)).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('ENOENT'),
    });
  });

  it('does not wait for a program that keeps running', async () => {
    const child = run('setTimeout(() => {}, 60_000)');
    expect(await watchLaunch(child, 50)).toEqual({ kind: 'running' });
    child.kill('SIGKILL');
  });

  it('sees an end that came before it was asked', async () => {
    const child = run('process.exit(4)');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(await watchLaunch(child, 10_000)).toMatchObject({ kind: 'failed' });
  });
});

import { expect, it } from 'vitest';
import { encodePath } from './jupyter-server.js';
import { parseLabAddress } from './server-address.js';

const host = 'http://localhost:8888';

it.each([
  [`${host}`, `${host}/`, undefined],
  [`${host}/lab`, `${host}/`, undefined],
  [`${host}/?token=t`, `${host}/`, undefined],
  [`${host}/lab/tree/work.ipynb?token=t`, `${host}/`, 'work.ipynb'],
  [`${host}/lab/tree/a%20b/%C3%BC.ipynb`, `${host}/`, 'a b/ü.ipynb'],
  [`${host}/lab/tree/RTC%3Awork.ipynb`, `${host}/`, 'work.ipynb'],
  [`${host}/lab/workspaces/auto-b/tree/work.ipynb`, `${host}/`, 'work.ipynb'],
  [`${host}/lab/tree/lab/tree/x.ipynb`, `${host}/`, 'lab/tree/x.ipynb'],
  [`${host}/lab/tree/folder`, `${host}/`, undefined],
  [`${host}/notebooks/deep/x.ipynb`, `${host}/`, 'deep/x.ipynb'],
  [`${host}/tree/deep`, `${host}/`, undefined],
  [`${host}/base/lab/doc/tree/x.ipynb`, `${host}/base/lab/`, 'x.ipynb'],
  ['https://hub.example/user/ann/lab/tree/x.ipynb', 'https://hub.example/user/ann/', 'x.ipynb'],
  ['https://hub.example/user/ann/', 'https://hub.example/user/ann/', undefined],
])('reads %s', (address, baseUrl, path) => {
  expect(parseLabAddress(address)).toMatchObject({ baseUrl, path });
});

it('takes the token out of the address, and shows it in no error', () => {
  expect(parseLabAddress(`${host}/lab?token=secret-token`).token).toBe('secret-token');
  for (const hub of [
    'h/hub/spawn?token=secret-token',
    'h/hub/x?token=a&token=secret-token',
    'h/hub/x#TOKEN=secret-token',
    'u:secret-token@h/hub/x',
  ])
    expect(() => parseLabAddress(`https://${hub}`)).toThrow(/^(?!.*secret-token).*JupyterHub itself/);
});

it.each(['', 'work', 'ftp://x/lab', 'localhost:8888/lab', `${host}/lab/tree/%E0%A4.ipynb`])('refuses "%s"', (address) => {
  expect(() => parseLabAddress(address)).toThrow('no address of a Jupyter server');
});

it('lets no path of a notebook lead to another address of its server', () => {
  const { path = '' } = parseLabAddress(`${host}/user/ann/lab/tree/..%2f..%2f..%2f..%2fuser/bob/x.ipynb`);
  expect(() => encodePath(path)).toThrow('no ".."');
  expect(encodePath('./a b/..x.ipynb')).toBe('a%20b/..x.ipynb');
});

import { expect, it } from 'vitest';
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
  expect(() => parseLabAddress('https://h/hub/spawn?token=secret-token')).toThrow(/^(?!.*secret-token).*JupyterHub itself/);
});

it.each(['', 'work', 'ftp://x/lab', 'localhost:8888/lab', `${host}/lab/tree/%E0%A4.ipynb`])('refuses "%s"', (address) => {
  expect(() => parseLabAddress(address)).toThrow('no address of a Jupyter server');
});

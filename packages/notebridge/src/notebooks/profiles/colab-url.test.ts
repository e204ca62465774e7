// @module-tag P-294

import { describe, expect, it } from 'vitest';
import { colabProfile } from './colab.js';
import { findColabUrl } from './colab-url.js';
import { toPageUrl } from './page-profiles.js';

const colab = 'https://colab.research.google.com';
const id = '1AbC_dEf-GhIjKlMnOpQrStUvWxYz0123';
const gist = '0123456789abcdef0123456789abcdef';

describe('findColabUrl', () => {
  it.each([
    [`${colab}/drive/${id}`, `/drive/${id}`],
    [`${colab}/drive/${id}?authuser=1#scrollTo=x&mcpProxyToken=old&mcpProxyPort=1`, `/drive/${id}?authuser=1`],
    [`${colab}/notebooks/empty.ipynb`, '/notebooks/empty.ipynb'],
    [`https://drive.google.com/file/d/${id}/view?usp=sharing`, `/drive/${id}`],
    [`https://drive.google.com/file/d/${id}`, `/drive/${id}`],
    [`https://drive.google.com/file/u/2/d/${id}/edit`, `/drive/${id}?authuser=2`],
    [`https://drive.google.com/open?id=${id}&authuser=1`, `/drive/${id}?authuser=1`],
    [`https://drive.google.com/uc?export=download&id=${id}`, `/drive/${id}`],
    ['https://github.com/o/r.x/blob/main/a%20b/n.ipynb', '/github/o/r.x/blob/main/a%20b/n.ipynb'],
    ['https://github.com/o/r/blob/main/n.ipynb?plain=1#L3', '/github/o/r/blob/main/n.ipynb'],
    ['https://github.com/o/r/raw/refs/heads/main/n.ipynb', '/github/o/r/blob/main/n.ipynb'],
    ['https://www.github.com/o/r/blame/v1/n.ipynb', '/github/o/r/blob/v1/n.ipynb'],
    ['https://raw.githubusercontent.com/o/r/main/d/n.ipynb', '/github/o/r/blob/main/d/n.ipynb'],
    ['https://raw.githubusercontent.com/o/r/refs/tags/v1/n.ipynb', '/github/o/r/blob/v1/n.ipynb'],
    [`https://gist.github.com/user/${gist}`, `/gist/user/${gist}`],
    [`https://gist.github.com/user/${gist}#file-n-ipynb`, `/gist/user/${gist}`],
    [`https://gist.githubusercontent.com/user/${gist}/raw/${gist}/n.ipynb`, `/gist/user/${gist}/n.ipynb`],
    [`drive.google.com/file/d/${id}/view`, `/drive/${id}`],
    [`drive.google.com/open?id=${id}`, `/drive/${id}`],
    ['github.com/o/r/blob/main/n.ipynb', '/github/o/r/blob/main/n.ipynb'],
    [`colab.research.google.com/drive/${id}`, `/drive/${id}`],
    ['HTTPS://GITHUB.COM/o/r/blob/main/n.ipynb', '/github/o/r/blob/main/n.ipynb'],
  ])('a link becomes its address in Colab: %s', (link, path) => {
    expect(findColabUrl(link)).toBe(colab + path);
  });

  it.each([
    ['no URL', 'n.ipynb'],
    ['nothing', ''],
    ['another origin', 'https://example.org/o/r/blob/main/n.ipynb'],
    ['an origin that begins like one', 'https://github.com.example.org/o/r/blob/main/n.ipynb'],
    ['one that ends like one', `https://xdrive.google.com/file/d/${id}`],
    ['no scheme and another host', `example.org/file/d/${id}/view`],
    ['no scheme and a port', `drive.google.com:8443/file/d/${id}/view`],
    ['no scheme and a user in front', `drive.google.com@example.org/file/d/${id}/view`],
    ['another port', 'https://github.com:8443/o/r/blob/main/n.ipynb'],
    ['no TLS', 'http://github.com/o/r/blob/main/n.ipynb'],
    ['Colab without TLS', `http://colab.research.google.com/drive/${id}`],
    ['a user in front', 'https://github.com@example.org/o/r/blob/main/n.ipynb'],
    ['a user in front of Colab', `https://x:y@colab.research.google.com/drive/${id}`],
    ['a blob', `blob:${colab}/drive/${id}`],
    ['a script', 'javascript:alert(1)//https://github.com/o/r/blob/main/n.ipynb'],
    ['a repository', 'https://github.com/o/r'],
    ['a folder', 'https://github.com/o/r/tree/main/notebooks'],
    ['another file', 'https://github.com/o/r/blob/main/n.py'],
    ['the way out, which leaves no file', 'https://github.com/o/r/blob/main/../../../n.ipynb'],
    ['the way out, encoded', 'https://github.com/o/r/blob/main/..%2f..%2fn.ipynb'],
    ['an encoded backslash', 'https://github.com/o/r/blob/main/..%5cn.ipynb'],
    ['a line break', 'https://github.com/o/r/blob/main/a%0d%0ab.ipynb'],
    ['what cannot be decoded', 'https://github.com/o/r/blob/main/%ff.ipynb'],
    ['an empty part', 'https://github.com/o/r/blob/main//n.ipynb'],
    ['an owner of other letters', 'https://github.com/o%2fx/r/blob/main/n.ipynb'],
    ['Drive without a file', 'https://drive.google.com/drive/my-drive'],
    ['a folder of Drive', `https://drive.google.com/drive/folders/${id}`],
    ['an id with more in it', `https://drive.google.com/open?id=${id}/../../x`],
    ['an id that is too short', 'https://drive.google.com/file/d/x/view'],
    ['a Gist without a user', `https://gist.github.com/${gist}`],
    ['a Gist that is none', 'https://gist.github.com/user/starred'],
  ])('refuses %s', (_what, link) => {
    expect(findColabUrl(link)).toBeUndefined();
    expect(() => toPageUrl('colab', link, 'x')).toThrowError(expect.objectContaining({ code: 'bad_origin' }));
  });

  it('stays at Colab, whatever it is given', () => {
    const parts = [
      'https:',
      '//',
      'github.com',
      'drive.google.com',
      '/',
      'blob',
      'o',
      '..',
      '%2e%2e',
      '@',
      ':',
      '#',
      '?id=',
      'n.ipynb',
      id,
      '\\',
    ];
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 20_000; round++) {
      const start = round % 2 === 0 ? 'https://github.com/o/r/blob/' : 'https://drive.google.com/';
      const link = start + Array.from({ length: next(7) }, () => parts[next(parts.length)]).join('');
      const found = findColabUrl(link);
      if (found === undefined) continue;
      const url = new URL(found);
      expect(colabProfile.origins).toContain(url.origin);
      expect([url.hash, url.username]).toEqual(['', '']);
    }
  });

  it('does not repeat a token of the link in the error', () => {
    expect(() => toPageUrl('colab', 'https://example.org/n.ipynb?token=secret#mcpProxyToken=secret', 'x')).toThrowError(/^(?!.*secret)/s);
  });
});

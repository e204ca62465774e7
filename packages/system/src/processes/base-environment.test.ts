import { describe, expect, it } from 'vitest';
import { baseEnvironment } from './base-environment.js';

describe('baseEnvironment', () => {
  it('hands on where things are and which language is spoken, and nothing else', { tags: ['P-067'] }, () => {
    const kept = { PATH: '/bin', HOME: '/home/me', LANG: 'C', LC_ALL: 'C', TMPDIR: '/tmp', USER: 'me', XDG_DATA_HOME: '/d', TERM: 'dumb' };
    const dropped = { API_KEY: 'secret', NODE_OPTIONS: '--inspect', LD_PRELOAD: '/x.so', HTTPS_PROXY: 'http://u:p@h', path: 'x', LCX: 'x' };
    expect(baseEnvironment({ ...kept, ...dropped, SHELL: undefined }, 'linux')).toEqual(kept);
  });

  it('drops a value that an old shell would run', () => {
    expect(baseEnvironment({ TERM: '() { :; }; id' }, 'linux')).toEqual({});
  });

  it('knows no case on Windows', () => {
    expect(baseEnvironment({ Path: 'C:\\', SystemRoot: 'C:\\Windows', API_KEY: 'x' }, 'win32')).toEqual({
      Path: 'C:\\',
      SystemRoot: 'C:\\Windows',
    });
  });
});

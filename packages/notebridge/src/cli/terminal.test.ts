import { describe, expect, it } from 'vitest';
import { createProgressLine, paintFor, plain, toDuration, toTable } from './terminal.js';
import { withoutControls } from './terminal-logger.js';

describe('paintFor', () => {
  it('colours a terminal, and nothing else; NO_COLOR switches it off', () => {
    expect(paintFor({ isTTY: true }, {}).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paintFor({ isTTY: true }, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(paintFor({ isTTY: true }, { NO_COLOR: '' }).dim('x')).toBe('\u001b[2mx\u001b[22m');
    expect(paintFor({ isTTY: true }, {}).bold('')).toBe('');
    expect(paintFor({ isTTY: true }, { TERM: 'dumb' }).red('x')).toBe('x');
    expect(paintFor({}, {}).red('x')).toBe('x');
  });
});

describe('toTable', () => {
  it('has columns as wide as their widest cell, colours not counted', () => {
    const { red } = paintFor({ isTTY: true }, {});
    const rows = [
      ['a', red('bad'), 'x'],
      ['long name', 'ok', ''],
    ];
    expect(toTable(['N', 'STATE', 'Z'], rows, { paint: plain })).toBe(
      `N          STATE  Z\na          ${red('bad')}    x\nlong name  ok\n`,
    );
  });

  it('cuts only the last column, to the width', () => {
    expect(toTable([], [['a', 'x'.repeat(50)]], { paint: plain, width: 20 })).toBe(`a  ${'x'.repeat(16)}…\n`);
    expect(toTable([], [], { paint: plain })).toBe('');
  });
});

it.each([
  [400, '0 s'],
  [89_000, '89 s'],
  [90_000, '2 min'],
  [5_340_000, '89 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 d'],
])('toDuration of %i ms is %s', (ms, text) => {
  expect(toDuration(ms)).toBe(text);
});

describe('createProgressLine', () => {
  const write = (isTTY: boolean): string => {
    let written = '';
    const line = createProgressLine({ isTTY, columns: 10, write: (text: string) => (written += text) });
    line.show('one\ntwo three four');
    line.clear();
    line.clear();
    return written;
  };

  it('writes over one line of a terminal, cut to its width, and takes it away once', () => {
    expect(write(true)).toBe('\r\u001b[Kone two …\r\u001b[K');
  });

  it('writes nothing anywhere else', () => {
    expect(write(false)).toBe('');
  });
});

it('withoutControls takes out what steers a terminal, and keeps lines', () => {
  expect(withoutControls('\u001b[31mred\u001b[0m\ttab\nline\u0007\u001b]0;title\u0007\u009b2J')).toBe('red\ttab\nline]0;title2J');
});

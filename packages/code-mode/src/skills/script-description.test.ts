// @module-tag P-168

import { describe, expect, it } from 'vitest';
import { toPythonTokens } from './python-tokens.js';
import { describeScript } from './script-description.js';

describe('describeScript', () => {
  it('reads a text, its sections, and the function', () => {
    const source = `#!/usr/bin/env python3
# A comment: def not_this(): "no"
r"""
Lists \\d repositories.

Usage:
    python list.py [--sort created]

Environment:
    TOKEN  Required. What opens it.
    BASE_URL

More text: here.
"""
import os

def get_headers() -> dict: return {"a": 1}
def _private(x): "no"

class Client:
    def method(self, inner: int): "no"

async def list_repos(
    sort: str = "updated, or (created)",
    limits: dict[str, list[int]] | None = None,  # a comment, with a comma
    *, key="x",
) -> list[dict]:
    """Other words.

    Args:
        sort (str, optional): By what: created or updated
            more of it.
        limits: How many.

    Returns:
        The repositories.

    Raises:
        nothing: at all
    """
    return []
`;
    expect(describeScript(source)).toEqual({
      description: 'Lists \\d repositories.',
      parameters: [
        { name: 'sort', type: 'str, optional', description: 'By what: created or updated' },
        { name: 'limits', type: '', description: 'How many.' },
      ],
      returns: 'The repositories.',
      usage: 'python list.py [--sort created]',
      env_vars: ['TOKEN', 'BASE_URL'],
    });
  });

  it('takes the signature where no text says it, and argparse before both, since that is the command line', () => {
    const plain = 'def run(self, a, b: str|None = f(1, 2), *rest, c=3) -> dict [str, int]:\n    pass\n';
    const parameters = [{ name: 'a' }, { name: 'b', type: 'str | None' }, { name: 'c' }];
    expect(describeScript(plain)).toEqual({ description: '', parameters, returns: 'dict[str, int]' });
    const parsed = `${plain}
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url", help="Where " "it is")
    parser.add_argument("more", nargs="*")
    group.add_argument("-f", "--out-file", type=Path, required=True, help='A "file"')
    parser.add_argument("--form", choices=["a", "b"], default=(1, 2))
    parser.add_argument(name, help="computed")
`;
    expect(describeScript(parsed).parameters).toEqual([
      { name: 'url', description: 'Where it is', required: true },
      { name: 'more' },
      { name: 'out_file', type: 'Path', description: 'A "file"', required: true },
      { name: 'form', choices: 'a, b' },
    ]);
  });

  it.each([
    ['nothing', '', ''],
    ['only a comment', '# "x"', ''],
    ['a text with escapes', '"a\\tb\\x41\\u00e9\\\n c"', 'a\tbAé c'],
    ['a text that is computed', 'f"{x}"', ''],
    ['two texts', '"a" + "b"', ''],
    ['a function alone', "def go():\n    'Goes.'\n", 'Goes.'],
    ['an open text', '"""never closed', 'never closed'],
    ['open brackets', 'def f(a, b: dict[', ''],
    ['too many brackets', ')))\ndef f(): "x"', ''],
    ['no Python', '\u0000\ud800 ?? ${} <html> def def def', ''],
    ['Windows lines', '"""One.\r\nTwo."""\r\n', 'One.'],
  ])('gives what it can of a source that is %s', (_kind, source, description) => {
    expect(describeScript(source).description).toBe(description);
  });

  it.each([
    ['brackets', '(['],
    ['quotes', '"\''],
    ['backslashes', '\\'],
    ['calls', '.add_argument('],
    ['functions', 'def f(a,'],
    ['sections', '\nUsage:\n'],
    ['commas', ','],
    ['texts', '"a" '],
  ])('is quick with 128 KiB of %s', (_kind, piece) => {
    const source = piece.repeat(131_072 / piece.length);
    const start = performance.now();
    describeScript(source);
    describeScript(`"""${source}`);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

describe('toPythonTokens', () => {
  it('loses nothing but space and comments', () => {
    const source = 'a = """x\n# y""" + rb\'\\\'\' # z\nif (b\n  # c\n  [1]):\n\tpass \\\n  d';
    const shown = toPythonTokens(source).map((token) => (token.kind === 'line' ? `|${token.column}` : token.text));
    expect(shown.join(' ')).toBe('|0 a = """x\n# y""" + rb\'\\\'\' |0 if ( b [ 1 ] ) : |1 pass d');
  });
});

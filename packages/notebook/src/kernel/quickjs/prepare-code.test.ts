import { describe, expect, it } from 'vitest';
import { prepareCode } from './prepare-code.js';

const codeOf = (source: string) => prepareCode(source).code;

describe('prepareCode', () => {
  it.each([
    ['1 + 1', 'await (1 + 1)'],
    ['let a = 1, b', 'var a = 1, b = undefined'],
    ['const { a, b: [c] } = d', 'var { a, b: [c] } = d'],
    ['class A {}', 'var A = class A {};'],
    ['for (const a of b) { const c = a; }', 'for (const a of b) { const c = a; }'],
    ['f();\ng(); // last', '$notebridge.told(f());\nawait (g()); // last'],
    ['a?.b();1', '$notebridge.told(a?.b());await (1)'],
    ['console.log(1);list.push(1);1', 'console.log(1);list.push(1);await (1)'],
    ['export const a = 1', 'var a = 1'],
    ['export default a', 'await (a)'],
    ['export default async function main() { f(); }', 'async function main() { $notebridge.told(f()); }'],
    ['class B extends A { constructor() { super(); } }', 'var B = class B extends A { constructor() { super(); } };'],
  ])('makes a script of %j', (source, code) => {
    expect(codeOf(source)).toBe(code);
  });

  it.each([
    ['import "a"', 'await $notebridge.import("a", [], []);'],
    ['import * as a from "b"', 'var a = await $notebridge.import("b", [], []);'],
    ['import a from "b"; a', 'var { "default": a } = await $notebridge.import("b", ["default"], ["default"]); await (a)'],
    [
      'import { a as b,\n  type C, D } from "e"; b',
      'var { "a": b, "D": D } = await $notebridge.import("e", ["a","D"], ["a"]);\n await (b)',
    ],
    ['import type { A } from "b"', ''],
  ])('makes a call of %j, in as many lines', (source, code) => {
    expect(codeOf(source)).toBe(code);
    expect(code.split('\n')).toHaveLength(code === '' ? 1 : source.split('\n').length);
  });

  it('takes types out, and leaves lines', () => {
    const source = 'interface A {\n  b: string;\n}\nconst a = <T,>(x: T): T => x;\nenum E { F, G }\nawait f<A>(a as unknown as A, x!)';
    expect(codeOf(source).split('\n')).toHaveLength(source.split('\n').length);
    expect(codeOf(source)).toContain('await (await f(a , x))');
  });

  it('leaves what only looks like a type', () => {
    expect(codeOf('a ? (b) : c => d')).toBe('await (a ? (b) : c => d)');
  });

  it('knows whether there is a result', () => {
    const has = (source: string) => prepareCode(source).hasResult;
    expect(['1', 'f()', '1; // end', 'await x', '"text"', 'a = 1'].map(has)).toEqual(Array(6).fill(true));
    expect(['', '// nothing', 'let a', 'if (a) b', 'function f() {}', 'import "a"'].map(has)).toEqual(Array(6).fill(false));
  });

  it.each([
    ['let a = (;', 1, 'Unexpected token'],
    ['\n\nreturn 5', 3, 'write the value as the last expression'],
    ['let a; let a;', 1, "'a' has already been declared"],
    ['export * from "a"', 1, 'Code exports nothing'],
    ['('.repeat(100_000), 1, ''],
    ['x = `', 1, 'Unterminated template'],
  ])('says of %.20j in which line it is wrong', (source, line, text) => {
    expect(() => prepareCode(source)).toThrow(
      expect.objectContaining({ name: 'SyntaxError', line, message: expect.stringContaining(text) }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseArguments, type StandardSchema, toJsonSchema } from './schema.js';

const asked = z.object({ title: z.string().min(1), count: z.number().default(3) });
const json = { properties: { title: { type: 'string' } }, required: ['title'] };
/** A schema of the first version of the standard: it validates, and can say nothing of itself. */
const silent: StandardSchema<string> = {
  '~standard': {
    version: 1,
    vendor: 'silent',
    validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'no' }] }),
  },
};

describe('toJsonSchema', () => {
  it('says that arguments are an object', () => {
    expect(toJsonSchema(undefined, 'input')).toEqual({ type: 'object' });
    expect(toJsonSchema(json, 'input')).toEqual({ type: 'object', ...json });
  });

  it('asks a Standard Schema, for either side', () => {
    expect(toJsonSchema(asked, 'input')).toMatchObject({ type: 'object', required: ['title'], properties: { count: { default: 3 } } });
    expect(toJsonSchema(asked, 'output')).toMatchObject({ required: ['title', 'count'] });
    const withMethod = { '~standard': silent['~standard'], toJSONSchema: () => ({ type: 'string' }) };
    expect(toJsonSchema(withMethod, 'input')).toEqual({ type: 'string' });
  });

  it('throws for one that cannot say', () => {
    expect(() => toJsonSchema(silent, 'input')).toThrow('a schema of silent cannot say its JSON Schema');
  });
});

describe('parseArguments', () => {
  it('gives the values of a Standard Schema, defaults included', async () => {
    expect(await parseArguments(asked, { title: 'x' })).toEqual({ title: 'x', count: 3 });
    expect(await parseArguments(json, { title: 'x', other: 1 })).toEqual({ title: 'x', other: 1 });
    expect(await parseArguments(undefined, { any: 1 })).toEqual({ any: 1 });
  });

  it('throws all issues, with their places', async () => {
    const nested = z.object({ list: z.array(z.object({ n: z.number() })), title: z.string() });
    await expect(parseArguments(nested, { list: [{ n: 'x' }] })).rejects.toThrow(/^"list\.0\.n": .*; "title": /);
    await expect(parseArguments(json, {})).rejects.toThrow('"title" is missing');
    await expect(parseArguments(undefined, 'text')).rejects.toThrow('must be object');
  });
});

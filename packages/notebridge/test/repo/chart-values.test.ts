// @module-tag P-722

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartLeaves, type Leaf, limitsOf, withValue } from '../support/chart-values.js';
import { deployFolder } from '../support/manifests.js';

const chart = join(deployFolder, 'chart');
const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as JsonObject;
const defaults = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as JsonObject;
const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false }).compile(schema);
const leaves = chartLeaves(schema);
/** Where the schema finds a fault. */
const faults = (values: JsonObject): string[] => (validate(values) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath));
const at = ({ path }: Leaf): string => `/${path.join('/')}`;

describe('the values of the chart', () => {
  it('are taken as they are, and all of them are looked at', () => {
    expect(faults(defaults)).toEqual([]);
    expect(leaves.length).toBeGreaterThan(90);
  });

  it.each(leaves.map((leaf) => [at(leaf), leaf] as const))('%s is taken at its limits and no further', (_, leaf) => {
    const { within, beyond } = limitsOf(leaf);
    for (const value of within) expect(faults(withValue(defaults, leaf.path, value)), JSON.stringify(value)).toEqual([]);
    for (const value of beyond) expect(faults(withValue(defaults, leaf.path, value)), JSON.stringify(value)).toContain(at(leaf));
  });

  it.each(leaves.map((leaf) => [at(leaf), leaf] as const))('%s is refused with its place where it is of another type', (_, leaf) => {
    const others: unknown[] = [null, true, 7.5, 'a b\nc', ['x'], { '!': 1 }];
    const wrong = others.filter((value) => !leaf.types.includes(typeOf(value)));
    expect(wrong.length).toBeGreaterThan(2);
    for (const value of wrong)
      expect(
        faults(withValue(defaults, leaf.path, value)).some((place) => place.startsWith(at(leaf))),
        JSON.stringify(value),
      ).toBe(true);
  });

  it.each(leaves.filter(({ isRequired }) => isRequired).map((leaf) => [at(leaf), leaf] as const))(
    '%s cannot be taken away, as null does with Helm',
    (_, { path }) => {
      const values = structuredClone(defaults);
      const parent = path.slice(0, -1).reduce<unknown>((value, step) => (isJsonObject(value) ? value[step] : undefined), values);
      delete (parent as JsonObject)[path.at(-1) ?? ''];
      expect(faults(values)).toContain(path.length === 1 ? '' : `/${path.slice(0, -1).join('/')}`);
    },
  );

  it.each([
    ['a wish for the label of the chart', { podLabels: { 'app.kubernetes.io/name': 'x' } }, '/podLabels'],
    ['a number as a label', { podLabels: { tier: 1 } }, '/podLabels/tier'],
    ['a number as an annotation', { podAnnotations: { a: 1 } }, '/podAnnotations/a'],
    ['a variable of the chart', { env: [{ name: 'POD_IP', value: 'x' }] }, '/env/0/name'],
    ['a number as the value of a variable', { env: [{ name: 'PORT', value: 1 }] }, '/env/0/value'],
    [
      'a rule that lets hubs reach everything',
      { networkPolicy: { ...(defaults.networkPolicy as JsonObject), egress: [{ ports: [] }] } },
      '/networkPolicy/egress/0',
    ],
    [
      'one that names nobody',
      { networkPolicy: { ...(defaults.networkPolicy as JsonObject), egress: [{ to: [{}] }] } },
      '/networkPolicy/egress/0/to/0',
    ],
    [
      'a port in a name of the Ingress',
      { ingress: { ...(defaults.ingress as JsonObject), hosts: ['hub.example:8080'] } },
      '/ingress/hosts/0',
    ],
    ["the owner's paths", { ingress: { ...(defaults.ingress as JsonObject), paths: ['/console'] } }, '/ingress/paths/0'],
    ['every host', { allowHosts: ['*'] }, '/allowHosts/0'],
    ['a key that would be YAML', { ownerToken: { secret: 'a', key: 'k, path: /etc' } }, '/ownerToken/key'],
    ['a volume of the chart', { volumes: [{ name: 'state', emptyDir: {} }] }, '/volumes/0/name'],
  ])('refuse %s', (_, values, place) => {
    expect(faults({ ...defaults, ...(values as JsonObject) })).toContain(place);
  });
});

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

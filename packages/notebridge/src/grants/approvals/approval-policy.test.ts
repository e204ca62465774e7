// @module-tag P-420

import type { Tool } from '@notebridge/protocol/core/mcp';
import { describe, expect, it } from 'vitest';
import { ApprovalPolicy, type ApprovalRules } from './approval-policy.js';

const tools: Record<string, Tool | undefined> = {
  read: { name: 'read', inputSchema: {}, annotations: { readOnlyHint: true } },
  add: { name: 'add', inputSchema: {}, annotations: { destructiveHint: false } },
  plain: { name: 'plain', inputSchema: {} },
  // Says two things at once: what only reads destroys nothing.
  odd: { name: 'odd', inputSchema: {}, annotations: { readOnlyHint: true, destructiveHint: true } },
  lying: { name: 'lying', inputSchema: {}, annotations: { readOnlyHint: 'true', destructiveHint: 'false' } as never },
  unknown: undefined,
};

function askedAbout(policy: ApprovalPolicy, server = 'shop'): string[] {
  return Object.keys(tools).filter((tool) => {
    const address = { server, tool };
    const judged = policy.judge(address);
    return judged === 'yes' || (judged === 'hints' && policy.isMeant(address, tools[tool]));
  });
}

describe('the calls that are asked about', () => {
  const destructive = ['plain', 'lying', 'unknown'];
  it.each([
    ['none', {}, []],
    ['listed', {}, []],
    ['listed', { tools: { deny: [], approve: ['re?d', 'pl*'] } }, ['read', 'plain']],
    ['destructive', {}, destructive],
    ['destructive', { tools: { deny: [], approve: ['add'] } }, ['add', ...destructive]],
    ['writes', {}, ['add', ...destructive]],
    ['writes', { approve: 'none' }, []],
    ['writes', { approve: 'destructive' }, destructive],
    ['none', { approve: 'destructive' }, destructive],
    ['none', { tools: { deny: [], approve: ['read'] } }, ['read']],
    ['destructive', { trusted: false }, Object.keys(tools)],
    ['writes', { trusted: false }, Object.keys(tools)],
    ['none', { trusted: false }, []],
  ] as const)('the right calls are asked about with %s, and %o for the server', (approve, more, expected) => {
    const servers = [{ name: 'shop', tools: { deny: [] }, ...more } as ApprovalRules['servers'][number]];
    const policy = new ApprovalPolicy({ approve, servers }, ['notebook']);
    expect(askedAbout(policy)).toEqual(expected);
    expect(askedAbout(policy, 'notebook')).toEqual([]);
    expect(policy.isOn).toBe(approve !== 'none' || expected.length > 0);
  });
});

it('holds for servers that the config does not name, and says whose hints count', () => {
  const policy = new ApprovalPolicy({ approve: 'writes', servers: [{ name: 'shop', trusted: false, tools: { deny: [] } }] }, []);
  expect(askedAbout(policy, 'other')).toEqual(['add', 'plain', 'lying', 'unknown']);
  expect(['shop', 'other'].map((name) => policy.isTrusted(name))).toEqual([false, true]);
});

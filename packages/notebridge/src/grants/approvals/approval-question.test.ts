// @module-tag P-421

import { expect, it } from 'vitest';
import { toDecision } from './approvals.js';

it.each([
  { action: 'accept' },
  { action: 'accept', content: {} },
  { action: 'accept', content: null },
  { action: 'accept', content: { decision: true } },
  { action: 'accept', content: { decision: ['once'] } },
  { action: 'accept', content: { decision: 'deny' } },
  { action: 'ACCEPT', content: { decision: 'once' } },
  { action: 'decline', content: { decision: 'once' } },
  { content: { decision: 'once' } },
  {},
  null,
])('%j is no yes', (answer) => {
  expect(toDecision(answer)).toBe('deny');
});

it.each(['once', 'session'])('a person who chose %j has approved that', (decision) => {
  expect(toDecision({ action: 'accept', content: { decision } })).toBe(decision);
});

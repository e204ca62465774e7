import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { notListed } from './not-listed.js';

const loggedOut = new BridgeError('login_required', 'Run: notebridge login away.', { data: { command: 'notebridge login away' } });

describe('notListed', () => {
  it.each<[Error, string, RegExp, JsonObject]>([
    [
      new BridgeError('hub_gone', 'Whether it had an effect is unknown.'),
      'upstream_unavailable',
      /"away" could not be listed\. They were asked for, and no answer came \(hub_gone\)\. Nothing was called\. Call again later\.$/,
      { ran: 'no' },
    ],
    [
      new BridgeError('upstream_unavailable', 'Whether it had an effect is unknown.', { data: { ran: 'unknown' } }),
      'upstream_unavailable',
      /no answer came \(upstream_unavailable\)\. Nothing was called\. Call again later\.$/,
      { ran: 'no' },
    ],
    [loggedOut, 'login_required', /Run: notebridge login away\. Nothing was called\.$/, { command: 'notebridge login away', ran: 'no' }],
    [new Error('It fell.'), 'upstream_unavailable', /It fell\. Nothing was called\. Call again later\.$/, { ran: 'no' }],
  ])('says of a list that failed why, and that nothing was called: %s', (error, code, message, data) => {
    const said = notListed('away__x', 'away', error);
    expect(said).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(said.data).toEqual(data);
  });
});

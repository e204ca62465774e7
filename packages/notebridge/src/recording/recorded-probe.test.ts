import { describe, expect, it } from 'vitest';
import { toProbe } from './recorded-probe.js';

const header = '{"notebridge":"recording","format":1,"version":"1","date":"2026-01-01T00:00:00.000Z","pid":7}\n';
const said = (method: string, session = 1) =>
  `{"t":1,"link":"agent","session":${session},"from":"client","message":{"id":1,"method":"${method}"}}\n`;
const ofServer = '{"t":1,"link":"server:a","session":2,"from":"client","message":{"id":1,"method":"tools/list"}}\n';

describe('toProbe', () => {
  it('knows a recording in which an agent asked for the era and left, also when it was cut off', () => {
    const whole = header + said('server/discover') + ofServer;
    expect(toProbe(`${whole}{"t":2,"li`, '1')).toEqual({
      bytes: whole.length,
      pid: 7,
      beganAt: Date.parse('2026-01-01T00:00:00.000Z'),
      sessions: new Map([
        ['agent', 1],
        ['server:a', 2],
      ]),
    });
    const again = `${whole}{"t":3,"continued":{"pid":8}}\n${said('server/discover', 2)}`;
    expect(toProbe(again, '1')).toMatchObject({
      pid: 8,
      sessions: new Map([
        ['agent', 2],
        ['server:a', 2],
      ]),
    });
  });

  it.each([
    ['in which an agent worked', header + said('server/discover') + said('tools/list')],
    ['of the legacy era', header + said('initialize')],
    ['of no agent', header + ofServer],
    ['that reached its limit', `${header}${said('server/discover')}{"t":1,"stopped":"full"}\n`],
    ['of another version', header.replace('"1"', '"2"') + said('server/discover')],
    ['that is broken', `${header}nothing\n${said('server/discover')}`],
    ['that is none', 'mine\n'],
    ['that is empty', ''],
  ])('leaves a file %s', (_, text) => {
    expect(toProbe(text, '1')).toBeUndefined();
  });
});

import { toLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { askJetStream, joinNats, startNats, waitForNats } from '../support/joined-nats.js';
import { type Nats, natsProgram, whyNoNats } from '../support/nats.js';

describe.skipIf(natsProgram === undefined)(`the audit of all hubs, at NATS${whyNoNats}`, { timeout: 120_000 }, () => {
  it('each line once, in the order of its hub, also over a server that was away', { tags: ['P-538'] }, async () => {
    const nats = await startNats();
    const a = await joinNats(nats, { audit: { maxDays: 1, maxBytes: 10_000_000 } });
    const lines = Array.from({ length: 3000 }, (_, index) => JSON.stringify({ index, text: 'x'.repeat(200) }));
    for (const line of lines.slice(0, 1000)) a.publishAudit('one', line);
    await nats.nodes[0]?.kill();
    for (const line of lines.slice(1000, 2000)) a.publishAudit('one', line);
    await nats.nodes[0]?.start();
    await waitForNats(() => expect(a.bus.isConnected).toBe(true));
    for (const line of lines.slice(2000)) a.publishAudit('one', line);
    a.publishAudit('two', '{"other":true}');
    await waitForNats(async () => expect((await auditLines(nats)).at(-1)).toBe('{"other":true}'));
    expect((await auditLines(nats)).slice(0, -1)).toEqual(lines);
  });

  it('holds what waits within bounds, says what it dropped, and stops at once', { tags: ['P-538'] }, async () => {
    const nats = await startNats();
    const said: string[] = [];
    const a = await joinNats(
      nats,
      { audit: { maxDays: 1, maxBytes: 10_000_000 } },
      toLogger((_, message, fields) => void said.push(`${message} ${JSON.stringify(fields)}`)),
    );
    await nats.nodes[0]?.kill();
    for (let index = 0; index < 100; index += 1) a.publishAudit('one', 'x'.repeat(100_000));
    expect(said.filter((line) => line.includes('"dropped":1}'))).toHaveLength(1);
    expect(said.filter((line) => line.includes('"dropped":10}'))).toHaveLength(1);
    await a.close();
    expect(said.at(-1)).toContain('"dropped":100}');
  });

  it('takes hubs of any name, and lines of any size: what NATS takes in no message goes without its arguments, or is named', {
    tags: ['P-591'],
  }, async () => {
    const nats = await startNats({ config: { max_payload: 65_536 } });
    const said: string[] = [];
    const a = await joinNats(
      nats,
      { audit: { maxDays: 1, maxBytes: 10_000_000 } },
      toLogger((_, message, fields) => void said.push(`${message} ${JSON.stringify(fields)}`)),
    );
    const hub = 'Ada’s laptop.example > 1';
    a.publishAudit(hub, JSON.stringify({ call_id: '1', arguments: { text: 'x'.repeat(100_000) } }));
    a.publishAudit(hub, JSON.stringify({ call_id: 'x'.repeat(100_000) }));
    const lines = Array.from({ length: 500 }, (_, index) => JSON.stringify({ index, text: 'x'.repeat(1000) }));
    for (const line of lines) a.publishAudit(hub, line);
    const first = JSON.stringify({ call_id: '1', arguments_left_out: 'too large for NATS' });
    await waitForNats(async () => expect(await auditLines(nats)).toEqual([first, ...lines]));
    expect(said).toEqual([expect.stringMatching(/audit lines did not get to NATS.*larger than a message of NATS.*"dropped":1}/)]);
    // A person gives the stream a limit for each message: what it never takes is named, and keeps nothing else waiting.
    const { config } = (await askJetStream(nats, `STREAM.INFO.${auditStream}`)) as { config: object };
    await askJetStream(nats, `STREAM.UPDATE.${auditStream}`, { ...config, max_msg_size: 20_000 });
    a.publishAudit(hub, 'x'.repeat(30_000));
    a.publishAudit('other', '{"other":true}');
    await waitForNats(async () => expect((await auditLines(nats)).at(-1)).toBe('{"other":true}'));
    // Nobody takes them meanwhile: said once.
    await askJetStream(nats, `STREAM.DELETE.${auditStream}`);
    a.publishAudit(hub, '{"late":true}');
    await waitForNats(() => expect(said.filter((line) => line.includes('audit lines wait'))).toHaveLength(1));
    await a.close();
    expect(said.at(-1)).toContain('"dropped":3}');
  });
});

const auditStream = 'notebridge-notebridge-audit';

async function auditLines(nats: Nats): Promise<string[]> {
  const lines: string[] = [];
  const { state } = (await askJetStream(nats, `STREAM.INFO.${auditStream}`)) as { state?: { first_seq: number; last_seq: number } };
  for (let seq = state?.first_seq ?? 1; seq <= (state?.last_seq ?? 0); seq += 1) {
    const { message } = (await askJetStream(nats, `STREAM.MSG.GET.${auditStream}`, { seq })) as { message: { data: string } };
    lines.push(...Buffer.from(message.data, 'base64').toString().split('\n'));
  }
  return lines;
}

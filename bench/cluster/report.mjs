// The tables of bench/cluster.mjs.
import { divide, section, show, verdict } from '../report.mjs';

const of = (rows, key) => rows.map((row) => row[key]);
const minus = (numbers, others) => numbers.map((number, round) => number - others[round]);
const judged = (aim, numbers, digits) => [show(numbers, digits), `${aim}: ${verdict(aim, numbers)}`];

export function callsSection(table) {
  const rows = Object.entries(table).flatMap(([door, kinds]) =>
    Object.entries(kinds).map(([kind, { owner, other }]) => [
      `${door}, ${kind === 'alone' ? 'one at a time' : `${kind.slice(2)} at once`}`,
      show(of(owner, 'cpuUsPerCall'), 0),
      show(of(other, 'cpuUsPerCall'), 0),
      ...judged('≤ 2.5', divide(of(other, 'cpuUsPerCall'), of(owner, 'cpuUsPerCall')), 2),
      show(of(other, 'natsUsPerCall'), 0),
      show(of(owner, 'medianMs'), 2),
      ...(kind === 'alone'
        ? judged('≤ 1', minus(of(other, 'medianMs'), of(owner, 'medianMs')), 2)
        : [show(minus(of(other, 'medianMs'), of(owner, 'medianMs')), 2), '']),
    ]),
  );
  return section(
    'A call at another hub',
    'Beside the same call at the hub that has the server (`placement: one`). CPU is that of both hubs, without the tool server and the caller; that of NATS stands by itself. With many at once two cores are full, and the milliseconds are those of a queue.',
    [
      [
        '',
        'CPU at the owner, µs',
        'CPU at another hub, µs',
        'ratio',
        'aim',
        'CPU of NATS, µs',
        'median at the owner, ms',
        'ms more at another',
        'aim',
      ],
      ...rows,
    ],
  );
}

export function timesSection({ takeOver, revocation: { count, lateMs, allMs } }) {
  return section(
    'What takes time',
    `Three hubs. A hub is killed (\`kill -9\`) at any moment between two renewals of its lease of 10 s; the time ends when both others have answered a call of its server. ${count} grants are revoked at one hub, 128 at once; the time goes from the answer to the last until another hub refuses the last.`,
    [
      ['', 'measured', 'aim', ''],
      ['a killed hub’s server answers elsewhere, s', show(takeOver, 2), '≤ 11', verdict('≤ 11', takeOver)],
      [`${count} revocations, seen at another hub after the last, ms`, show(lateMs, 0), '≤ 1000', verdict('≤ 1000', lateMs)],
      [`all ${count} revocations answered, ms`, show(allMs, 0), '', ''],
    ],
  );
}

export function pagesSection({ count, natsKb, bucketKb, keys, hubKb, natsMsPerSecond, messagesPerSecond }) {
  const kb = [natsKb + bucketKb];
  return section(
    `${count} pages at rest`,
    'Three processes with the pages of a hub each (claims, slots and sockets of the real code, no doors), and every page a WebSocket of its own. Growth from before the pages came, for each page.',
    [
      ['', 'measured', 'aim', ''],
      ['memory of NATS and bytes of the bucket, KB', kb[0].toFixed(1), '≤ 40', verdict('≤ 40', kb)],
      ['of that memory of NATS, KB', natsKb.toFixed(1), '', ''],
      ['of that the bucket, KB', bucketKb.toFixed(2), '', ''],
      ['entries', keys.toFixed(2), '', ''],
      ['memory of its hub and what the other two know, KB', hubKb.toFixed(0), '', ''],
      ['CPU of NATS with all of them at rest, ms per second', natsMsPerSecond.toFixed(1), '', ''],
      ['messages of NATS with all of them at rest, per second', messagesPerSecond.toFixed(1), '', ''],
    ],
  );
}

export function growthSection(table) {
  const columns = [
    ['entries', ({ keys }) => keys, 0],
    ['messages at rest, per second', ({ messagesPerSecond }) => messagesPerSecond, 0],
    ['CPU of NATS at rest, ms per second', ({ natsMsPerSecond }) => natsMsPerSecond, 1],
    ['CPU of each hub at rest, ms per second', ({ hubMsPerSecond }) => hubMsPerSecond, 1],
    ['messages per call, one hub calls', ({ one }) => one.messages, 2],
    ['CPU of all hubs per call, µs', ({ one }) => one.hubUs, 0],
    ['CPU of NATS per call, µs', ({ one }) => one.natsUs, 0],
    ['messages per call, all call', ({ all }) => all.messages, 2],
    ['CPU of all hubs per call, µs', ({ all }) => all.hubUs, 0],
    ['CPU of NATS per call, µs', ({ all }) => all.natsUs, 0],
  ];
  const rows = [...table].map(([count, measured]) => [
    String(count),
    ...columns.map(([, numberOf, digits]) => show(measured.map(numberOf), digits)),
  ]);
  return section(
    '1, 2, 4 and 8 hubs',
    `One hub calls the server of another, 16 at once, while all others stand by; then all but the owner call, 16 at once each (one hub alone calls its own). Messages
are those that come to NATS and those that go out, with acknowledgements and the audit; of all that is given for a call, what the cluster costs at rest is taken off.

A call touches two hubs however many there are: its owner is known from a watch, nobody is asked, and its messages go to the subject of that one hub. At rest
each hub renews its lease and has those of all others told to it, so messages at rest grow with the square of the hubs: a few each second and pair.`,
    [['hubs', ...columns.map(([title]) => title)], ...rows],
  );
}

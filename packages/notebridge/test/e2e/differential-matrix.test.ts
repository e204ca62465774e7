// @module-tag deep
// @module-tag P-368
// @module-tag P-369

import { afterAll, beforeAll, expect, it } from 'vitest';
import { coreAndDeep, isPairwise } from '../support/core-and-deep.js';
import { compareCell } from '../support/differential/compare.js';
import { differences } from '../support/differential/differences.js';
import { type DoorName, type EraName, type OpenDoor, openDoor } from '../support/differential/doors.js';
import { tableMessages } from '../support/differential/messages.js';
import { Mirror } from '../support/differential/mirror.js';
import {
  hostOverHttp,
  hostOverStdio,
  type Lane,
  type MirrorHost,
  openDirectPage,
  openMirrorPage,
} from '../support/differential/mirror-hosts.js';
import type { RawPage } from '../support/raw-page.js';

const kinds = ['stdio', 'http', 'page'] as const;
const eras: EraName[] = ['legacy', 'modern'];
const doors: DoorName[] = ['stdio', 'http'];
/** All messages of a cell have so long, not each: those that are unanswered then are named. */
const limitMs = 120_000;
const answers = tableMessages.map(({ answer }) => answer ?? '');

const hosts = new Map<string, MirrorHost>();
const direct = new Map<string, Lane>();
const opened = new Map<DoorName, OpenDoor>();
const pages: RawPage[] = [];

beforeAll(async () => {
  for (const era of eras) {
    for (const kind of ['stdio', 'http'] as const) {
      const name = `${era}-${kind}`;
      const mirror = new Mirror({ name, era, answers });
      const host = await (kind === 'stdio' ? hostOverStdio(mirror) : hostOverHttp(mirror));
      hosts.set(name, host);
      direct.set(name, await host.openDirect());
    }
  }
  const ofPage = new Mirror({ name: 'page', era: 'legacy', answers });
  direct.set('page', await openDirectPage(ofPage));
  const servers = Object.fromEntries([...hosts].map(([name, { entry }]) => [name, { ...entry, era: name.split('-')[0] }]));
  for (const door of doors) {
    const open = await openDoor(door, servers);
    opened.set(door, open);
    pages.push(await openMirrorPage(ofPage, await open.pageAddress()));
  }
});

afterAll(async () => {
  for (const page of pages) await page.close();
  for (const door of opened.values()) await door.close();
  for (const lane of direct.values()) await lane.close();
  for (const host of hosts.values()) await host.close();
});

it('there are about 400 messages, no two of one name', () => {
  expect(tableMessages.length).toBeGreaterThanOrEqual(400);
  expect(new Set(tableMessages.map(({ name }) => name)).size).toBe(tableMessages.length);
});

const cells = doors.flatMap((door, doorAt) =>
  eras.flatMap((era, eraAt) => kinds.map((kind, kindAt) => ({ door, era, kind, isCore: isPairwise(doorAt, eraAt, kindAt) }))),
);

for (const { cells: some, tags } of coreAndDeep(cells, ({ isCore }) => isCore)) {
  it.each(some)(
    'a provider ($kind), behind the $door door, for an agent of the $era era, answers as it does without a bridge',
    { tags, timeout: 2 * limitMs },
    async ({ door, era, kind }) => {
      const name = kind === 'page' ? 'page' : `${era}-${kind}`;
      const lane = (await opened.get(door)?.lane(era)) ?? expect.fail();
      const lanes = { direct: direct.get(name) ?? expect.fail(), bridged: lane };
      expect(await compareCell({ door, era, kind, name }, lanes, AbortSignal.timeout(limitMs))).toEqual([]);
    },
  );
}

it('each known difference is needed still', { tags: ['deep'] }, () => {
  expect(differences.filter(({ uses }) => uses === 0).map(({ reason }) => reason)).toEqual([]);
});

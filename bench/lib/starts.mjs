// What an agent host feels before the first call: how long a start takes, and what an idle program holds.

import { startNode, within } from './children.mjs';
import { addPage, startMiddle } from './crossing.mjs';
import { memoryMbOf } from './proc.mjs';
import { shuffle, sleep } from './stats.mjs';

/** Times, in ms, of an empty Node and of each target from its start to its answer to `tools/list`. Interleaved. */
export async function measureColdStarts(targets, rounds) {
  const starts = [
    { name: 'empty node', run: emptyStart },
    ...targets.map((target) => ({ name: target.name, run: () => firstList(target) })),
  ];
  const timesMs = Object.fromEntries(starts.map(({ name }) => [name, []]));
  // The first start of each reads its files from the disk; nobody waits for that twice.
  for (const { run } of starts) await run();
  for (let round = 0; round < rounds; round++) for (const { name, run } of shuffle(starts)) timesMs[name].push(await run());
  return timesMs;
}

async function emptyStart() {
  const start = performance.now();
  await within(30_000, 'An empty Node', startNode(['-e', '0']).ended);
  return performance.now() - start;
}

/** As hosts do it: all that can be said is in the pipe before the program reads it. */
async function firstList(target) {
  const start = performance.now();
  const middle = startMiddle(target);
  middle.agent.initialize().catch(() => {});
  const list = await within(30_000, `The first list of ${target.name}`, middle.agent.request('tools/list', {}));
  const elapsedMs = performance.now() - start;
  await middle.end();
  if (!list.result?.tools?.length) throw new Error(`${target.name} listed no tools: ${JSON.stringify(list).slice(0, 300)}`);
  return elapsedMs;
}

/** Memory of each target 3 s after its start, and 3 s after a page came and one call crossed. */
export async function measureIdle(targets, rounds) {
  const memory = Object.fromEntries(targets.map(({ name }) => [name, { alone: [], withPage: [] }]));
  for (let round = 0; round < rounds; round++) {
    const middles = targets.map((target) => ({ target, middle: startMiddle(target) }));
    await sleep(3000);
    for (const { target, middle } of middles) memory[target.name].alone.push(memoryMbOf(middle.pid));
    const crossings = [];
    for (const { target, middle } of middles) crossings.push(await addPage(target, middle));
    await sleep(3000);
    for (const crossing of crossings) memory[crossing.name].withPage.push(memoryMbOf(crossing.pid));
    for (const crossing of crossings) await crossing.end();
  }
  return memory;
}

// What a model reads and writes for the ten tasks, by direct calls and in code mode.
import { section } from '../report.mjs';
import { directList, tokenizer, tokensOf } from './list-tokens.mjs';
import { peerTable } from './peer-surfaces.mjs';
import { playTasks } from './play-tasks.mjs';
import { textOf } from './scripted-agents.mjs';

/** What one task adds to the list: each call as its name and arguments, each answer as its text. Pictures are left out in both ways. */
function toCost(turns) {
  const perTurn = turns.map((turn) =>
    turn.reduce((sum, { name, args, result }) => sum + tokensOf({ name, arguments: args }) + tokensOf(textOf(result)), 0),
  );
  const messages = perTurn.reduce((sum, tokens) => sum + tokens, 0);
  // Before each turn, and before the last word, a model reads all that came before.
  let before = 0;
  let again = 0;
  for (const tokens of [0, ...perTurn]) {
    before += tokens;
    again += before;
  }
  return { calls: turns.flat().length, turns: turns.length, messages, reads: (list) => list * (turns.length + 1) + again };
}

/** The part of results.md about tasks. `tools`: those of public servers, for longer lists. */
export async function taskTables(tools) {
  const { direct, byCode } = await playTasks();
  const number = (value) => Math.round(value).toLocaleString('en-US');
  const costs = direct.played.map(({ task, turns }, at) => ({ task, direct: toCost(turns), byCode: toCost(byCode.played[at].turns) }));
  const perTask = costs.map(({ task, direct: one, byCode: other }) => [
    task.name,
    `${one.calls} in ${one.turns}`,
    `${other.calls} in ${other.turns}`,
    ...[one.messages, other.messages].map(number),
    ...[one.reads(direct.list), other.reads(byCode.list)].map(number),
  ]);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const sums = (list) => [sum(costs.map((cost) => cost.direct.reads(list))), sum(costs.map((cost) => cost.byCode.reads(byCode.list)))];
  const all = sums(direct.list);
  perTask.push([
    '**all ten**',
    String(sum(costs.map((cost) => cost.direct.calls))),
    String(sum(costs.map((cost) => cost.byCode.calls))),
    ...[sum(costs.map((cost) => cost.direct.messages)), sum(costs.map((cost) => cost.byCode.messages)), ...all].map(number),
  ]);
  const longer = [200, 1000].map((count) => [count, tokensOf(directList(tools, count).list)]);
  const byCount = [[direct.toolCount, direct.list], ...longer].map(([count, list]) => {
    const [one, other] = sums(list);
    return [String(count), number(list), number(byCode.list), number(one), number(other), `${(one / other).toFixed(1)} ×`];
  });
  const text = `Ten written tasks (\`bench/code-mode/tasks\`) with server-filesystem, -everything and -memory: ${direct.toolCount} tools. Scripted agents do them over stdio, directly and in
code mode, and the answers are compared; no model is called. A scripted agent makes no detour, knows what comes next, and calls at once what can be called at once; a model's
own words between the calls are left out, the code is counted. Tokens of ${tokenizer}: *messages* are the names and arguments of the calls and the text of their
answers; *read* is the list and all messages so far, once for each turn and once for the last word, as a model without a cache reads them.`;
  const more = `The same tasks and messages where the list has more tools, those of [the table above](#tokens-of-the-tool-list). *Less* is how many times fewer tokens code mode has read.`;
  const head = ['task', 'calls in turns: direct', 'code mode', 'messages: direct', 'code mode', 'read: direct', 'code mode'];
  return [
    section('Tokens of ten tasks', text, [head, ...perTask]),
    section('Tokens of ten tasks, by tools', more, [
      ['tools', 'list: direct', 'code mode', 'read, all ten: direct', 'code mode', 'less'],
      ...byCount,
    ]),
    await peerTable(tools, byCode),
  ].join('\n\n');
}

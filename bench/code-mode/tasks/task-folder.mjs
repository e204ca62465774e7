import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const levels = ['INFO', 'INFO', 'DEBUG', 'INFO', 'WARN', 'INFO', 'ERROR'];
const countries = ['Norway', 'Chile', 'Ghana', 'Japan', 'Latvia'];
const people = ['ana', 'bo', 'cai', 'dina', 'eli', 'fay', 'gus', 'hana'];

/**
 * What the tasks work on: files below `data`, and a graph of the memory server, `memory.jsonl`. The same each time.
 * @param {string} folder Is there, and empty.
 */
export function writeTaskFolder(folder) {
  const write = (/** @type {string} */ path, /** @type {readonly string[]} */ lines) =>
    writeFileSync(join(folder, path), `${lines.join('\n')}\n`);
  for (const name of ['logs', 'shop', 'notes', 'config']) mkdirSync(join(folder, 'data', name), { recursive: true });
  for (const log of count(8)) write(`data/logs/app-${log + 1}.log`, logLines(log));
  write('data/shop/customers.csv', ['id,country', ...count(30).map((id) => `${id},${countries[(id * 7) % countries.length]}`)]);
  write('data/shop/orders.csv', ['id,customer,euros', ...count(120).map((id) => `${id},${(id * 11) % 30},${((id * 37) % 90) + 10}`)]);
  for (const note of count(6)) write(`data/notes/note-${note + 1}.md`, noteLines(note));
  for (const service of count(6))
    write(`data/config/service-${service + 1}.ini`, [`[service-${service + 1}]`, 'timeout = 30', 'retries = 3']);
  write(
    'data/numbers.txt',
    count(12).map((number) => String((number * 17) % 41)),
  );
  write('data/team.csv', ['name,lead', ...people.map((name, at) => `${name},${at === 0 ? '' : people[Math.floor((at - 1) / 3)]}`)]);
  write(
    'memory.jsonl',
    count(40).map((contract) => JSON.stringify(contractOf(contract))),
  );
}

function logLines(/** @type {number} */ log) {
  return count(40).map((line) => {
    const level = levels[(line * (log + 3)) % levels.length];
    return `2026-03-0${log + 1}T10:${String(line).padStart(2, '0')}:00Z ${level} request ${log * 100 + line} took ${(line * 13 + log) % 97} ms`;
  });
}

function noteLines(/** @type {number} */ note) {
  const body = count(12).map((line) =>
    (line + note) % 5 === 0 ? `TODO: look into point ${note + 1}.${line + 1}` : `Point ${line + 1} was settled.`,
  );
  return [`# Note ${note + 1}`, ...body];
}

function contractOf(/** @type {number} */ contract) {
  const observations = [`signed in ${2015 + (contract % 10)}`, contract % 6 === 0 ? 'has expired' : 'is in force'];
  return { type: 'entity', name: `contract-${contract + 1}`, entityType: 'contract', observations };
}

const count = (/** @type {number} */ length) => Array.from({ length }, (_, at) => at);

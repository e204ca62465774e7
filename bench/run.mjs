// npm run bench [-- crossing|stdio|notebook|jupyter|jupyterlab|gateways|bindings|outputs|pages|questions|code-mode|watching|cluster] [--quick] [--rounds N] [the options of that bench]
// Without a name all of them run, one after the other, each in a process of its own.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const benches = [
  'crossing',
  'stdio',
  'notebook',
  'jupyter',
  'jupyterlab',
  'gateways',
  'bindings',
  'outputs',
  'pages',
  'questions',
  'code-mode',
  'watching',
  'cluster',
];

const [first = '', ...others] = process.argv.slice(2);
const isNamed = first !== '' && !first.startsWith('-');
if (isNamed && !benches.includes(first)) {
  process.stderr.write(`bench: there is no bench "${first}"; there are ${benches.join(', ')}.\n`);
  process.exit(2);
}
const args = isNamed ? others : process.argv.slice(2);
let code = 0;
for (const name of isNamed ? [first] : benches) {
  if (!isNamed) process.stderr.write(`bench: ${name}\n`);
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  // One that fails does not keep the others from running.
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: 'inherit' });
  code ||= status ?? 1;
}
process.exit(code);

// The tool server behind every gateway: JSON lines on stdio, no SDK, results printed beforehand, one write for each chunk read.
import { createEcho } from '../echo-tools.mjs';

let answers = '';
const handle = createEcho((text) => {
  answers += `${text}\n`;
});

let started = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (started + chunk).split('\n');
  started = lines.pop();
  for (const line of lines) if (line !== '') handle(JSON.parse(line));
  if (answers === '') return;
  process.stdout.write(answers);
  answers = '';
});
process.stdin.on('end', () => process.exit(0));

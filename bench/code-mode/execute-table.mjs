import { availableParallelism, loadavg } from 'node:os';
import { quantile, spread } from '../lib/stats.mjs';
import { divide, section } from '../report.mjs';
import { measureExecution, pythonVersion } from './execute.mjs';

/** The part of results.md about execute_code. */
export async function executionTable({ rounds }) {
  const load = loadavg()[0].toFixed(1);
  const { onePlusOne, ready, nested, plain, first, alone } = await measureExecution({ rounds });
  const ms = (numbers, digits = 0) => {
    const { min, median, max } = spread(numbers);
    return `${median.toFixed(digits)} (${min.toFixed(digits)} – ${max.toFixed(digits)}) ms`;
  };
  const middle = (numbers) => spread(numbers).median;
  const ratio = middle(nested) / middle(plain);
  const cold = middle(divide(first, alone));
  const kept = (isKept) => (isKept ? 'kept' : '**missed**');
  const rows = [
    ['`1+1`, warm, median', `${quantile(onePlusOne, 0.5).toFixed(1)} ms`, '', '≤ 8 ms', kept(quantile(onePlusOne, 0.5) <= 8)],
    ['the same, 99th percentile', `${quantile(onePlusOne, 0.99).toFixed(1)} ms`, '', '', ''],
    ['`1+1` in a Python that was started in advance', ms(ready), '', '≤ 300 ms', kept(middle(ready) <= 300)],
    ['100 nested calls, one after the other', ms(nested), `${ratio.toFixed(2)} × ${ms(plain)}`, '≤ 1.3 ×', kept(ratio <= 1.3)],
    ['from the start of the program to the first answer', ms(first), `${cold.toFixed(2)} × ${ms(alone)}`, '≤ 1.1 ×', kept(cold <= 1.1)],
  ];
  const text = `${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · Node ${process.version} · ${pythonVersion} · load at the start ${load} · \`npm run bench -- code-mode --only execute\`

An agent over stdio, ${rounds} rounds. Nested calls are \`echo\` of server-everything, beside the same script in a plain Python, with generated functions over HTTP to
\`notebridge serve\`. The first answer is that of an agent that lists the tools and runs \`1+1\`, beside Pyodide loaded alone (\`pyodide.mjs\`), in turns.`;
  return `# Bench: execute_code\n\n${section('What execute_code costs', text, [['', 'Notebridge', 'beside', 'aim', ''], ...rows])}\n`;
}

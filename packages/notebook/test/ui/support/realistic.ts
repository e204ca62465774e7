import type { CellContent } from '../../../src/model/cell.js';
import type { Output } from '../../../src/model/output.js';

/** A notebook as people have them: prose, code, a table, a plot, printed lines and an error. */
export function realisticCells(): Partial<CellContent>[] {
  return [
    {
      type: 'markdown',
      source:
        '# Rainfall in three cities\n\nDaily measurements of **2024**, from the `rain.csv` file of the [weather archive](https://example.org).\n\n- Missing days count as dry\n- A *wet* day has more than $1\\,\\mathrm{mm}$\n\n| city | station |\n|---|---|\n| Bergen | 50540 |\n| Lima | 84628 |',
    },
    {
      source: 'import pandas as pd\n\nrain = pd.read_csv("rain.csv", parse_dates=["day"])\nrain.describe()  # one column per city',
      executionCount: 1,
      outputs: [table],
    },
    {
      source:
        'def wet_days(series, limit: float = 1.0) -> int:\n    """Days with more than `limit` millimetres."""\n    return int((series > limit).sum())\n\nfor city in rain.columns[1:]:\n    print(f"{city:<10}{wet_days(rain[city]):>5}")',
      executionCount: 2,
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'Bergen      239\nLima          4\nNairobi      92\n' }],
    },
    { type: 'markdown', source: '## By month' },
    {
      source: 'rain.set_index("day").resample("ME").sum().plot(title="Rain per month, mm")',
      executionCount: 3,
      outputs: [
        { output_type: 'display_data', data: { 'image/svg+xml': plot(), 'text/plain': '<Figure size 640x480 with 1 Axes>' }, metadata: {} },
      ],
    },
    { source: 'rain["Oslo"].mean()', executionCount: 4, outputs: [error] },
    {
      source: 'import warnings\nwarnings.warn("two stations moved in March")',
      executionCount: 5,
      outputs: [{ output_type: 'stream', name: 'stderr', text: 'UserWarning: two stations moved in March\n' }],
    },
    { source: 'wait', executionCount: null },
  ];
}

const table: Output = {
  output_type: 'execute_result',
  execution_count: 1,
  metadata: {},
  data: {
    'text/plain': '…',
    'text/html': `<div><style scoped>.dataframe tbody tr th { vertical-align: top; } .dataframe thead th { text-align: right; }</style><table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>Bergen</th><th>Lima</th><th>Nairobi</th></tr></thead><tbody>${[
      ['count', '366.00', '366.00', '363.00'],
      ['mean', '6.51', '0.02', '2.41'],
      ['std', '9.87', '0.11', '6.03'],
      ['min', '0.00', '0.00', '0.00'],
      ['max', '71.30', '1.40', '48.20'],
    ]
      .map(([name, ...values]) => `<tr><th>${name}</th>${values.map((value) => `<td>${value}</td>`).join('')}</tr>`)
      .join('')}</tbody></table></div>`,
  },
};

const error: Output = {
  output_type: 'error',
  ename: 'KeyError',
  evalue: "'Oslo'",
  traceback: [
    '\u001b[31m---------------------------------------------------------------------------\u001b[39m',
    '\u001b[31mKeyError\u001b[39m                                  Traceback (most recent call last)',
    '\u001b[36mCell\u001b[39m\u001b[36m \u001b[39m\u001b[32mIn[4]\u001b[39m\u001b[32m, line 1\u001b[39m\n\u001b[32m----> \u001b[39m\u001b[32m1\u001b[39m \u001b[43mrain\u001b[49m\u001b[43m[\u001b[49m\u001b[33;43m"\u001b[39;49m\u001b[33;43mOslo\u001b[39;49m\u001b[33;43m"\u001b[39;49m\u001b[43m]\u001b[49m.mean()',
    "\u001b[31mKeyError\u001b[39m: 'Oslo'",
  ],
};

function plot(): string {
  const lines = [
    ['#1f77b4', [212, 190, 150, 120, 96, 101, 122, 168, 221, 240, 214, 246]],
    ['#ff7f0e', [1, 0, 0, 0, 1, 2, 2, 1, 1, 0, 0, 0]],
    ['#2ca02c', [58, 50, 92, 191, 148, 40, 18, 22, 26, 52, 110, 84]],
  ] as const;
  const paths = lines.map(
    ([colour, values]) =>
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${values.map((value, at) => `${50 + at * 48},${280 - value}`).join(' ')}"/>`,
  );
  const ticks = [0, 100, 200].map(
    (value) =>
      `<text x="42" y="${284 - value}" text-anchor="end" font-size="11">${value}</text><path d="M46 ${280 - value}h4" stroke="#000"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="620" height="330" viewBox="0 0 620 330" font-family="DejaVu Sans, sans-serif"><rect width="620" height="330" fill="#fff"/><text x="315" y="18" text-anchor="middle" font-size="13">Rain per month, mm</text><path d="M50 25V280H590V25z" fill="none" stroke="#000"/>${ticks.join('')}${paths.join('')}<text x="315" y="312" text-anchor="middle" font-size="11">month</text></svg>`;
}

// A server of the config that notes each execution in a file: `node ledger-server.mjs FILE`. The number of a call is all it has.
import { appendFileSync } from 'node:fs';
import { serve, text, tool } from '../fixtures/servers/line-server.mjs';

const [file = ''] = process.argv.slice(2);

serve({
  tools: [tool('mark')],
  calls: {
    mark: async ({ n, ms = 0 }) => {
      // One short line in one write: those of several processes do not mix.
      appendFileSync(file, `${n}\n`);
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      return text(`marked ${n}`);
    },
  },
});

import { expect, it } from 'vitest';
import { createTeller } from './teller.js';

const notify = (colours: boolean): string => {
  let printed = '';
  const teller = createTeller({ print: (text) => (printed += text), colours });
  teller.title('A story');
  teller.onBegin({ name: 'one', title: 'It begins', play: async () => '' });
  teller.onUse('run_code', { code: 'x = 1' });
  teller.onEnd({ name: 'one', ok: true, ms: 1234, detail: 'it works' });
  teller.onEnd({ name: 'one', ok: false, ms: 0, detail: 'it does not' });
  return printed;
};

it('prints each step in plain lines', () => {
  expect(notify(false)).toBe('A story\n\n1. It begins\n   → run_code  code: "x = 1"\n   ✓ it works  (1.2 s)\n   ✗ it does not  (0.0 s)\n');
});

it('says the same in colours', () => {
  const coloured = notify(true);
  expect(coloured).toContain('\u001b[32m✓\u001b[0m it works');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colours are made of.
  expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(notify(false));
});

import type { JsonObject } from '@notebridge/notebook';
import type { StepListener } from './steps.js';

/** Reports the steps to a person. */
export interface Teller extends StepListener {
  title(text: string): void;
  onUse(tool: string, args: JsonObject): void;
  /** A paragraph: a blank line, then these. */
  say(...lines: string[]): void;
}

export interface TellerOptions {
  print: (text: string) => void;
  /** Whether the reader is a terminal that shows colours. */
  colours: boolean;
}

export function createTeller({ print, colours }: TellerOptions): Teller {
  const paint = (code: number, text: string): string => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = (text: string): void => print(`${text}\n`);
  let number = 0;
  return {
    title: (text) => line(paint(1, text)),
    say: (...lines) => line(`\n${lines.join('\n')}`),
    onBegin: ({ title }) => line(`\n${paint(1, `${++number}. ${title}`)}`),
    onUse: (tool, args) => line(`   ${paint(36, `→ ${tool}`)}${paint(2, describeArguments(args))}`),
    onEnd({ ok, detail, ms }) {
      const mark = ok ? paint(32, '✓') : paint(31, '✗');
      line(`   ${mark} ${detail}${paint(2, `  (${(ms / 1000).toFixed(1)} s)`)}`);
    },
  };
}

/** Prints nothing. */
export const silentTeller: Teller = { title() {}, say() {}, onBegin() {}, onUse() {}, onEnd() {} };

const maxValue = 44;

function describeArguments(args: JsonObject): string {
  const parts = Object.entries(args).map(([name, value]) => {
    const text = JSON.stringify(value);
    return `  ${name}: ${text.length > maxValue ? `${text.slice(0, maxValue - 1)}…` : text}`;
  });
  return parts.join('');
}

import type { Output } from '../model/output.js';
import { toText } from '../model/text.js';

const maxLength = 200;

/**
 * Reports the last line that code has printed, as progress of its call. Not more often than every `intervalMs`, since a loop may
 * print a thousand lines in that time; the last one is always reported.
 */
export function createLineProgress(report: (line: string) => void, intervalMs: number): { put: (output: Output) => void; end: () => void } {
  let open = '';
  let line: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const reportLine = (): void => {
    timer = undefined;
    if (line === undefined) return;
    report(line);
    line = undefined;
    timer = setTimeout(reportLine, intervalMs);
  };

  return {
    put(output) {
      if (output.output_type !== 'stream') return;
      // A carriage return begins a line anew, as in a progress bar.
      const lines = (open + toText(output.text)).slice(-20 * maxLength).split(/[\r\n]+/);
      open = (lines.at(-1) ?? '').slice(0, maxLength);
      line = lines.findLast((text) => text.trim() !== '')?.slice(0, maxLength) ?? line;
      if (timer === undefined) reportLine();
    },
    end() {
      clearTimeout(timer);
    },
  };
}

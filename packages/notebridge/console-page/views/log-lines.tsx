import { clock, lines } from '../format.js';
import { Box } from '../parts.js';
import type { LogLine } from '../wire.js';

/** Lines of the log, the oldest first. */
export function LogLines({ lines: logged }: { lines: readonly LogLine[] }) {
  const text = logged.map(({ time, level, msg }) => `${clock(time)}  ${level === 'info' ? '' : `${level}: `}${lines(msg)}`);
  return <Box text={text.join('\n')} label="Lines of the log" />;
}

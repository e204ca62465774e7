import { adviceOnWritten, writtenBy } from '../processes/written-rule.js';
import { StartFault } from './start-fault.js';

/** Throws a `StartFault` for keys and certificates of a server that code in a sandbox could have written: at each start, for the folder may be given later. */
export function assertNamedOutside(paths: readonly (string | undefined)[]): void {
  for (const path of paths.filter((each) => each !== undefined)) {
    const written = writtenBy(path);
    if (written === undefined) continue;
    const message = `it is not called: code in a sandbox may write to "${written}", where its "${path}" lies. ${adviceOnWritten(written)}`;
    throw new StartFault(message, { lasting: true });
  }
}

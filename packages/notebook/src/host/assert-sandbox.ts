import { messageOf } from '@notebridge/kit/message-of';
import { openSandbox } from '../kernel/open-sandbox.js';
import { HostError } from '../session/host-error.js';

/** Now, and not when Python is needed: nothing else is opened without it. */
export async function assertSandbox(): Promise<void> {
  try {
    await openSandbox('require');
  } catch (error) {
    throw new HostError('sandbox_unavailable', messageOf(error), { cause: error });
  }
}

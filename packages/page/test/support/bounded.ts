import type { PageSession, PageState } from '../../src/index.js';

/** Waits for a promise, and no longer: below the limit of a test, and far above what a busy machine takes. */
export async function within<Value>(what: string, promise: Promise<Value>, timeoutMs = 45_000): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Not within ${timeoutMs} ms: ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the session has this status; at once if it has it now. */
export function stateOf<Status extends PageState['status']>(
  session: PageSession,
  status: Status,
): Promise<Extract<PageState, { status: Status }>> {
  type Wanted = Extract<PageState, { status: Status }>;
  const reached = new Promise<Wanted>((resolve) => {
    const look = (state: PageState): void => {
      if (state.status === status) resolve(state as Wanted);
    };
    session.on('state', look);
    look(session.state);
  });
  return within(`the state "${status}"`, reached).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${JSON.stringify(session.state)}`);
  });
}

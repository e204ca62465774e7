// @module-tag P-174

// Compiled by `tsc --noEmit`, never run: a guard has one hook, which wraps all others.
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Guard } from '../../src/grants/guard.js';

const onMessage: Guard['onMessage'] = (context, callNext) => callNext(context);

/** The right one, and it is a middleware. */
export const right: Middleware = { name: 'guard', onMessage } satisfies Guard;

export const wrong: Guard[] = [
  // @ts-expect-error sees nothing
  { name: 'guard' },
  // @ts-expect-error a hook that a layer around it would not know of
  { name: 'guard', onMessage, onCallTool: (context, callNext) => callNext(context) },
  // @ts-expect-error the same
  { name: 'guard', onMessage, onNotification: onMessage },
];

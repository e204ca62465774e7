import { codeModeServer } from '@notebridge/protocol/core/tool-address';
import { expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Hub } from '../hub.js';
import { Admission } from './admission.js';
import { createGuard } from './guard.js';

it('the guard hands on what the name of a call stands for, and leaves tools of ours to their names', async () => {
  const hub = new Hub();
  let lookUps = 0;
  hub.addMiddleware(
    createGuard({
      admission: new Admission({ store: { get: () => 'unknown', takeCall: () => false, putBackCall: () => {} } }),
      resolve: (name) => {
        lookUps++;
        if (name === 'execute_code') return { server: codeModeServer, tool: name };
        const [server = '', tool] = name.split('__');
        return tool === undefined ? undefined : { server, tool };
      },
      findTool: () => undefined,
    }),
  );
  const targetOf = async (name: string): Promise<unknown> =>
    (await hub.request(createContext('tools/call', { name }), async ({ target }) => ({ target }))).target;
  expect(await targetOf('fs__read_file')).toEqual({ server: 'fs', tool: 'read_file' });
  // A server whose tools are not known yet: which of them it is nobody knows.
  expect(await targetOf('fs__')).toBeUndefined();
  expect(await targetOf('get_cells')).toBeUndefined();
  expect(await targetOf('execute_code')).toBeUndefined();
  expect(lookUps).toBe(4);
});

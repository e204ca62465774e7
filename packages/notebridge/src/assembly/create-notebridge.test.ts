import { expect, it } from 'vitest';
import { defaultConfig } from '../config/config.js';
import { createNotebridge } from './create-notebridge.js';

it('createNotebridge refuses a code mode with the tools of another program', async () => {
  const codeMode = 'agent-codemode' as unknown as boolean;
  await expect(createNotebridge({ config: defaultConfig('/nowhere'), env: {}, codeMode })).rejects.toMatchObject({
    code: 'bad_usage',
    message: expect.stringContaining('no longer offered'),
  });
});

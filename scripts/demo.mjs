// npm run demo: sets up what is missing, then plays the main story from start to end.
import { run, runMain } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  await setup({ chromium: false });
  const { code } = await run(process.execPath, ['examples/colab-demo.mjs', ...args], { show: true });
  return code;
});

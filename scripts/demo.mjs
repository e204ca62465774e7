// npm run demo: sets up what is missing, then plays the two stories from start to end: a Colab page, and the built-in notebook.
// `npm run demo -- --browser` shows the built-in notebook in your browser.
import { run, runMain } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  await setup({ chromium: false });
  for (const story of ['examples/colab-demo.mjs', 'examples/notebook-demo.mjs']) {
    console.log(`\n── ${story}`);
    const { code } = await run(process.execPath, [story, ...args], { show: true });
    if (code !== 0) return code;
  }
  return 0;
});

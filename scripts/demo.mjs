// npm run demo: sets up what is missing, then plays two stories from start to end: a Colab page, and `notebridge demo`, the built-in
// notebook. What stands after `--` is for the second: `npm run demo -- --browser` shows the notebook in your browser.
import { run, runMain } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  await setup();
  const stories = [['examples/colab-demo.mjs'], ['packages/notebridge/bin/notebridge.js', 'demo', ...args]];
  for (const story of stories) {
    console.log(`\n── node ${story.join(' ')}\n`);
    const { code } = await run(process.execPath, story, { show: true });
    if (code !== 0) return code;
  }
  return 0;
});

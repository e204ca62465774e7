// npm run build: builds all packages as the other commands do, so that they know it and do not build again.
import { runMain } from './run.mjs';
import { build } from './setup.mjs';

await runMain(import.meta.url, async () => (await build({ show: true })).code);

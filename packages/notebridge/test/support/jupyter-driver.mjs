// Speaks with a Jupyter server as JupyterLab does, by its own library; for tests whose server stands where only a program beside it can
// reach it. `node jupyter-driver.mjs URL TOKEN`: starts a kernel, says `{"ready":true}`, then takes a command per line of stdin and
// writes a line per event: `{"cell":1,"message":{…iopub…}}`, `{"cell":1,"reply":{…}}`. It ends the kernel when stdin ends.
import { createInterface } from 'node:readline';
import { KernelManager, ServerConnection } from '@jupyterlab/services';

const [baseUrl = '', token = ''] = process.argv.slice(2);
/** @param {object} event */
const say = (event) => void process.stdout.write(`${JSON.stringify(event)}\n`);
// The library reports on its connections there; stdout is ours.
console.log = console.info = console.debug = console.error;

const serverSettings = ServerConnection.makeSettings({ baseUrl, wsUrl: baseUrl.replace(/^http/, 'ws'), token, appendToken: true });
const manager = new KernelManager({ serverSettings });
const kernel = await manager.startNew({ name: 'python3' });
await kernel.info;
say({ ready: true });

const commands = createInterface({ input: process.stdin });
commands.on('line', async (line) => {
  const { cell, code, interrupt } = JSON.parse(line);
  if (interrupt === true) {
    await kernel.interrupt();
    return;
  }
  const future = kernel.requestExecute({ code, store_history: true, stop_on_error: true });
  future.onIOPub = ({ header, content }) => say({ cell, message: { type: header.msg_type, content } });
  // Resolves when the reply has come and the kernel is idle again: nothing of the cell comes after it.
  const { content } = await future.done;
  say({ cell, reply: content });
});
commands.on('close', async () => {
  await kernel.shutdown().catch(() => {});
  manager.dispose();
  process.exit();
});

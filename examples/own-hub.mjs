// What `notebridge serve` does, in a program of your own: node examples/own-hub.mjs [config file] [port]
import { createNotebridge } from 'notebridge';

const [config, port = '8765'] = process.argv.slice(2);
const bridge = await createNotebridge({ config, notebook: 'colab', http: { port: Number(port) } });
try {
  await bridge.start();
  console.error(JSON.stringify({ msg: 'Serving.', url: bridge.url }));
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
  });
} finally {
  await bridge.close();
}

import { Worker } from 'node:worker_threads';
import type { ScaleImage } from './image-scaling.js';
import type { EncodedImage, ImageTask } from './image-worker.js';

/** Of one image. Milliseconds. */
const timeoutMs = 20_000;

/** One after the other, whoever asks: an image takes up to 300 MB while it is decoded. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Scales images in a thread that is started for each, and ended with it. Nothing of it is loaded before the first one.
 */
export function createImageScaler(): ScaleImage {
  const workerUrl = builtWorker();
  return (image, bounds) => {
    const scaling = turn.then(() => run(workerUrl, { ...bounds, bytes: Buffer.from(image.data, 'base64'), format: image.format }));
    turn = scaling.catch(() => {});
    return scaling.then(({ bytes, format, width, height }) => ({
      data: Buffer.from(bytes).toString('base64'),
      format,
      mimeType: format === 'PNG' ? 'image/png' : 'image/jpeg',
      width,
      height,
      bytes: bytes.byteLength,
    }));
  };
}

/** Tests run sources, which no thread can load. */
function builtWorker(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/outputs/image-worker.js' : './image-worker.js', import.meta.url);
}

async function run(workerUrl: URL, task: ImageTask): Promise<EncodedImage> {
  const worker = new Worker(workerUrl, { workerData: task, env: {}, execArgv: [], stdout: true, stderr: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<EncodedImage>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it takes longer than ${timeoutMs / 1000} s to decode`)), timeoutMs);
      worker.once('message', resolve);
      // What a decoder says of its input is of no use to a reader.
      worker.once('error', (error) => reject(new Error(isOwn(error) ? error.message : 'its data is damaged', { cause: error })));
      worker.once('exit', () => reject(new Error('its data is damaged')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function isOwn(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('it ');
}

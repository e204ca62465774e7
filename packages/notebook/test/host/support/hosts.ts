import { onTestFinished } from 'vitest';
import { createNotebookHost, type NotebookHost } from '../../../src/host/notebook-host.js';
import type { NotebookHostOptions } from '../../../src/host/notebook-host-options.js';
import { TinyKernel } from '../../fixtures/tiny-kernel.js';
import { quick } from './stores.js';

/** A host that is closed when the test has finished. */
export async function startHost(options: NotebookHostOptions = {}): Promise<NotebookHost> {
  const host = createNotebookHost({ kernel: new TinyKernel(), timing: quick, ...options });
  onTestFinished(() => host.close().catch(() => {}));
  await host.start();
  return host;
}

/** What a tool answered, read. */
export async function callTool(host: NotebookHost, name: string, args: object = {}, agent = 'Claude'): Promise<Record<string, unknown>> {
  const { content } = await host.callTool(name, args, { agent });
  const [first] = content;
  return JSON.parse(first?.type === 'text' ? first.text : '{}');
}

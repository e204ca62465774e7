import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOwnScratch } from '@notebridge/system/files/own-scratch';
import { createPrivateFile } from '@notebridge/system/files/private-file';
import { type BrowserResult, type OpenBrowserOptions, openBrowser } from '@notebridge/system/processes/browser';

/** A browser has read it by then. Milliseconds. */
const keptMs = 60_000;

/**
 * Opens an address of ours, which holds a code or token, in the person's browser. Every user of the machine reads with which arguments a browser
 * was started; see `OpenBrowserOptions.leadTo`.
 */
export function openAddress(url: string, options: OpenBrowserOptions = {}): Promise<BrowserResult> {
  return openBrowser(url, { leadTo, ...options });
}

/** Writes a file that leads a browser to the URL. Removed after a minute; one of a process that ends before, by the next that makes such a folder. */
async function leadTo(url: string): Promise<string> {
  const scratch = await makeOwnScratch();
  const file = join(scratch.path, 'open.html');
  createPrivateFile(file, toPage(url));
  setTimeout(() => void scratch.remove(), keptMs).unref();
  return pathToFileURL(file).href;
}

function toPage(url: string): string {
  const escaped = url.replace(/[&"'<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const head = '<meta charset="utf-8"><meta name="referrer" content="no-referrer">';
  return `<!doctype html>${head}<meta http-equiv="refresh" content="0;url=${escaped}"><title>Notebridge</title>\n`;
}

import type { Page } from 'playwright-core';

/** What JupyterLab's own object of a notebook has that we ask for. */
interface NotebookWidget {
  sessionContext?: { session?: { kernel?: { connectionStatus: string; status: string } | null } | null };
}

/**
 * Waits until the kernel of the notebook in front is there and idle. The indicator in the page says "idle" before there is a kernel too, and
 * a cell that is run then never runs.
 */
export async function kernelReady(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { currentWidget } = (window as unknown as { jupyterapp: { shell: { currentWidget?: NotebookWidget } } }).jupyterapp.shell;
    const kernel = currentWidget?.sessionContext?.session?.kernel;
    return kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
  });
}

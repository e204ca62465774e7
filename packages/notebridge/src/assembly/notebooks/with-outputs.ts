import { WholeOutputsMiddleware } from '../../notebooks/outputs/whole-outputs-middleware.js';
import type { OpenNotebook } from './open-notebook.js';

/** What a notebook answers is fitted where it runs, unless the call says that it shall not be. */
export function withOutputs(open: OpenNotebook): OpenNotebook {
  return async (setup) => {
    const opened = await open(setup);
    if (setup.pages.outputs !== 'whole') return opened;
    return { ...opened, middlewares: [...opened.middlewares, new WholeOutputsMiddleware()] };
  };
}

import { findPage, findProfile, type NamedPage, pageProfiles } from '../../../notebooks/profiles/page-profiles.js';
import type { NotebookKind } from '../notebook-kind.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { withOutputs } from '../with-outputs.js';
import { openColab } from './open-colab.js';

const named = pageProfiles.filter(({ newUrl }) => newUrl !== undefined).map(({ name }) => `"${name}"`);
const linked = pageProfiles.flatMap(({ links }) => links?.short ?? []);

/** Pages in a browser, as those of Colab. Which ones there are, `page-profiles.ts` says. */
export const pageKind: NotebookKind = {
  name: 'page',
  arguments: [...named, `the URL of a notebook on ${linked.join(', ')}`],
  opener: (argument) => {
    const profile = findProfile(argument);
    const page = profile === undefined ? findPage(argument) : { profile, url: profile.defaultUrl };
    return page && ((setup) => openPage(setup, page));
  },
  find: async ({ text }) => {
    const page = findPage(text);
    return page && { kind: 'page', profile: page.profile.name, url: page.url };
  },
  locationsOf: async (reference) => (reference.kind === 'page' ? [reference.url] : []),
  held: (options) => {
    const loading = import('./broker-page.js').then(({ BrokerPages }) => new BrokerPages(options));
    return {
      open: async (opening) => (await loading).open(opening),
      restore: async () => (await loading).restore(),
      close: async () => (await loading).close(),
    };
  },
};

/** A page, held here or by the broker. */
async function openPage(setup: NotebookSetup, { profile, url }: NamedPage): Promise<OpenedNotebook> {
  const { hold, joinsPage = false } = setup.pages;
  if (hold !== 'join' || !joinsPage) return openColab(setup, { ...profile, defaultUrl: url });
  const { openJoinedPage } = await import('./open-joined-page.js');
  return withOutputs((given) => openJoinedPage(given, { profile: profile.name, url }))(setup);
}

import { BridgeError } from '@notebridge/protocol/core/errors';
import { colabProfile } from './colab.js';
import { ownPageProfile } from './own-page.js';
import type { PageProfile } from './profile.js';

/** The kinds of page that there are. Another one is a file beside these, and its name here. */
export const pageProfiles: readonly PageProfile[] = [colabProfile, ownPageProfile];

/** A page that somebody has named. */
export interface NamedPage {
  profile: PageProfile;
  url: string;
}

/** The page that a link to a notebook means; undefined for any other text. */
export function findPage(link: string): NamedPage | undefined {
  for (const profile of pageProfiles) {
    const url = profile.findUrl?.(link);
    if (url !== undefined) return { profile, url };
  }
  return undefined;
}

/** The profile of this name whose pages can be opened without a link; undefined for any other text. */
export function findProfile(name: string): PageProfile | undefined {
  return pageProfiles.find((profile) => profile.name === name && profile.newUrl !== undefined);
}

/**
 * What is opened for a notebook of this profile. One that nobody has named is another notebook each time, which is found by a URL of its own
 * from then on. Throws `bad_origin` for a link that such a page does not open, `bad_usage` where one has to be named.
 */
export function toPageUrl(name: string, link: string | undefined, id: string): string {
  const { title, findUrl, newUrl, links } = pageProfiles.find((profile) => profile.name === name) ?? ownPageProfile;
  if (link === undefined) {
    if (newUrl === undefined) throw new BridgeError('bad_usage', 'A page of your own is opened by its URL: name it.');
    return newUrl(id);
  }
  if (findUrl === undefined) return link;
  const url = findUrl(link);
  if (url !== undefined) return url;
  // A token may stand behind it.
  const shown = (link.length > 300 ? `${link.slice(0, 300)}…` : link).replace(/[#?].*$/, '');
  throw new BridgeError(
    'bad_origin',
    `"${shown}" is no link to a notebook that ${title} opens. Give ${links?.examples ?? 'one of its own'}.`,
  );
}

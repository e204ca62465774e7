import type { PageProfile } from './profile.js';

/** A page of the user's own, made with `@notebridge/page`: its origin is let in by the agent's `--allow-origin`, and its URL is named. */
export const ownPageProfile: PageProfile = {
  name: 'page',
  title: 'notebook',
  origins: [],
  defaultUrl: 'https://localhost/',
  tools: [],
};

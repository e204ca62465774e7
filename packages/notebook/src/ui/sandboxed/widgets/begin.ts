import { confine } from '../confine.js';

/** Imported before any package: what they do when they are loaded is confined already. */
export const canShow = confine();

// First of all: what packages do when they are loaded is confined already.
import { canShow } from './begin.js';
import { startWidgets } from './show-widgets.js';

startWidgets(canShow);

/** What reads code, as the build bundles it: nothing but this file is loaded in the kernel's process. */
export { parse } from 'acorn';
export { full } from 'acorn-walk';
export { transform } from 'sucrase';

// The build replaces this module by a bundle of what it names, so that the package needs neither at run time.
export { diffArrays } from 'diff';
export * from 'yjs';

// The build replaces this module by a bundle of what it names, so that the package needs none of it at run time.
export { diffArrays } from 'diff';
export * as decoding from 'lib0/decoding';
export * as encoding from 'lib0/encoding';
export { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness';
export * as sync from 'y-protocols/sync';
export * from 'yjs';

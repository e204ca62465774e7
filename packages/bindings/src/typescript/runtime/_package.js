/** Where the hub is, as the generator knew it. The generator writes this file anew. @type {string | undefined} */
export const hubUrl = undefined;

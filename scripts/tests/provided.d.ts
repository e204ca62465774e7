import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the Chromium of the run listens. Without a Chromium there is none. */
    chromium?: string;
  }
}

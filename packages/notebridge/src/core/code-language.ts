/** What agents write code in. */
export const codeLanguages = ['python', 'javascript'] as const;

export type CodeLanguage = (typeof codeLanguages)[number];

/** What runs it, in words for agents. */
export const interpreters: Readonly<Record<CodeLanguage, string>> = { python: 'Python', javascript: 'JavaScript interpreter' };

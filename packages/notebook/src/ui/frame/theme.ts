const storageKey = 'notebridge-theme';

/** The theme of the system until a person chooses the other one; then the choice is kept. */
export function startTheme(): void {
  const chosen = localStorage.getItem(storageKey);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

/** The one that is seen. */
export function currentTheme(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset;
  const isDark = theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  return isDark ? 'dark' : 'light';
}

export function toggleTheme(): void {
  const next = currentTheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem(storageKey, next);
}

const storageKey = 'notebridge-theme';

/** The theme of the system until a person chooses the other one; then the choice is kept. */
export function startTheme(): void {
  const chosen = localStorage.getItem(storageKey);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

export function toggleTheme(): void {
  const now = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem(storageKey, next);
}

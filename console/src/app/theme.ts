import { useSyncExternalStore } from 'react';

/** `system` follows the preference of the operating system. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'console-theme';
const listeners = new Set<() => void>();
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

systemIsDark.addEventListener('change', applyTheme);

/** Returns the chosen theme. */
export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribeToTheme, readThemeChoice);
}

/** Returns the theme that the page shows. Charts are painted again when it changes. */
export function useShownTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribeToTheme, resolveTheme);
}

export function setThemeChoice(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, choice);
  applyTheme();
}

function subscribeToTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readThemeChoice(): ThemeChoice {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function resolveTheme(): 'light' | 'dark' {
  const choice = readThemeChoice();
  if (choice !== 'system') return choice;
  return systemIsDark.matches ? 'dark' : 'light';
}

function applyTheme(): void {
  document.documentElement.dataset.theme = resolveTheme();
  for (const listener of listeners) listener();
}

// Runs before the first paint, so that a dark page does not flash. A file, because the page allows no inline script.
(() => {
  const chosen = localStorage.getItem('console-theme');
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();

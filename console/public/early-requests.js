// Starts the requests of the first page before its scripts are evaluated. `src/api/early-requests.ts` takes the answers.
// A file, because the page allows no inline script.
(() => {
  if (/\/(?:sign-in|set-up)$/.test(location.pathname)) return;
  const begin = (path) =>
    fetch(path, {
      credentials: 'same-origin',
      redirect: 'error',
      headers: { accept: 'application/json' },
    }).catch(() => null);
  const paths = ['/v1/session'];
  if (location.pathname === '/dashboard/' && location.search === '')
    paths.push('/v1/dashboard/overview?last=24h');
  globalThis.earlyRequests = new Map(paths.map((path) => [path, begin(path)]));
})();

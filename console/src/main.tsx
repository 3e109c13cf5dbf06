import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import './styles/pages.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { callOperation, onUnauthenticated } from './api/client.ts';
import { sessionQuery } from './api/session.ts';
import { PERIOD_DEFAULT } from './components/period-select.tsx';
import { buildRouter } from './router.tsx';

const client = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, refetchOnWindowFocus: true, retry: false } },
});
const router = buildRouter(client);

// A page whose file went with an earlier build is loaded again, from the present one.
window.addEventListener('vite:preloadError', () => location.reload());

// A session that ended on the server leads to the sign-in page, and from there back to this address.
onUnauthenticated(() => {
  if (client.getQueryData(sessionQuery.queryKey) === null) return;
  client.setQueryData(sessionQuery.queryKey, null);
  void router.invalidate();
});

// Before the first render, because every page waits for the session, and the overview for its figures. Both take the
// answers of early requests at once, so that none is used later.
void client.prefetchQuery(sessionQuery);
if (location.pathname === '/dashboard/' && location.search === '') {
  const input = { last: PERIOD_DEFAULT };
  void client.prefetchQuery({
    queryKey: ['dashboardOverview', input],
    queryFn: ({ signal }) => callOperation('dashboardOverview', input, signal),
  });
}

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element `root`.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

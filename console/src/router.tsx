import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router';
import { sessionQuery } from './api/session.ts';
import { ErrorPage, NotFoundPage, PendingPage } from './app/error-page.tsx';
import { Shell } from './app/shell.tsx';
import { OverviewPage } from './pages/overview-page.tsx';

const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({ component: Outlet });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { to?: string; error?: string } => ({
    ...(typeof search.to === 'string' ? { to: search.to } : {}),
    ...(typeof search.error === 'string' ? { error: search.error } : {}),
  }),
  component: lazyRouteComponent(() => import('./app/sign-in-page.tsx'), 'SignInPage'),
});

const setUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/set-up',
  component: lazyRouteComponent(() => import('./app/set-up-page.tsx'), 'SetUpPage'),
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: async ({ context, location }) => {
    const session = await context.client.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
  component: Shell,
});

/** Adds a page inside the frame. Filters and the like are in the query of the address, as text. */
function page<const Path extends string>(path: Path, component: RouteComponent) {
  return createRoute({
    getParentRoute: () => appRoute,
    path,
    validateSearch: (search): Record<string, string> =>
      Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)])),
    component,
  });
}

const pageRoutes = [
  // Part of the first bundle, because most visits begin here: a chunk of its own would be one more request in a row.
  page('/', OverviewPage),
  page(
    '/activity',
    lazyRouteComponent(() => import('./pages/activity-page.tsx'), 'ActivityPage'),
  ),
  page(
    '/incidents',
    lazyRouteComponent(() => import('./pages/incidents-page.tsx'), 'IncidentsPage'),
  ),
  page(
    '/incidents/$event_id',
    lazyRouteComponent(() => import('./pages/incident-page.tsx'), 'IncidentPage'),
  ),
  page(
    '/approvals',
    lazyRouteComponent(() => import('./pages/approvals-page.tsx'), 'ApprovalsPage'),
  ),
  page(
    '/approvals/$request_id',
    lazyRouteComponent(() => import('./pages/approval-page.tsx'), 'ApprovalPage'),
  ),
  page(
    '/sessions',
    lazyRouteComponent(() => import('./pages/sessions-page.tsx'), 'SessionsPage'),
  ),
  page(
    '/sessions/$session_id',
    lazyRouteComponent(() => import('./pages/session-page.tsx'), 'SessionPage'),
  ),
  page(
    '/agents',
    lazyRouteComponent(() => import('./pages/agents-page.tsx'), 'AgentsPage'),
  ),
  page(
    '/agents/$agent_id',
    lazyRouteComponent(() => import('./pages/agent-page.tsx'), 'AgentPage'),
  ),
  page(
    '/detection',
    lazyRouteComponent(() => import('./pages/detection-page.tsx'), 'DetectionPage'),
  ),
  page(
    '/costs',
    lazyRouteComponent(() => import('./pages/costs-page.tsx'), 'CostsPage'),
  ),
  page(
    '/policies',
    lazyRouteComponent(() => import('./pages/policies-page.tsx'), 'PoliciesPage'),
  ),
  page(
    '/access',
    lazyRouteComponent(() => import('./pages/access-page.tsx'), 'AccessPage'),
  ),
  page(
    '/alerts',
    lazyRouteComponent(() => import('./pages/alerts-page.tsx'), 'AlertsPage'),
  ),
  page(
    '/compliance',
    lazyRouteComponent(() => import('./pages/compliance-page.tsx'), 'CompliancePage'),
  ),
  page(
    '/audit',
    lazyRouteComponent(() => import('./pages/audit-page.tsx'), 'AuditPage'),
  ),
  page(
    '/account',
    lazyRouteComponent(() => import('./app/account-page.tsx'), 'AccountPage'),
  ),
  page(
    '/settings',
    lazyRouteComponent(() => import('./pages/settings-page.tsx'), 'SettingsPage'),
  ),
] as const;

const routeTree = rootRoute.addChildren([signInRoute, setUpRoute, appRoute.addChildren(pageRoutes)]);

/** Builds the router. All addresses are below `/dashboard`. */
export function buildRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/dashboard',
    context: { client },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: PendingPage,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof buildRouter>;
  }
}

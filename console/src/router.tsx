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
function createPageRoute<const Path extends string>(path: Path, component: RouteComponent) {
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
  createPageRoute('/', OverviewPage),
  createPageRoute(
    '/activity',
    lazyRouteComponent(() => import('./pages/activity-page.tsx'), 'ActivityPage'),
  ),
  createPageRoute(
    '/incidents',
    lazyRouteComponent(() => import('./pages/incidents-page.tsx'), 'IncidentsPage'),
  ),
  createPageRoute(
    '/incidents/$event_id',
    lazyRouteComponent(() => import('./pages/incident-page.tsx'), 'IncidentPage'),
  ),
  createPageRoute(
    '/approvals',
    lazyRouteComponent(() => import('./pages/approvals-page.tsx'), 'ApprovalsPage'),
  ),
  createPageRoute(
    '/approvals/$request_id',
    lazyRouteComponent(() => import('./pages/approval-page.tsx'), 'ApprovalPage'),
  ),
  createPageRoute(
    '/sessions',
    lazyRouteComponent(() => import('./pages/sessions-page.tsx'), 'SessionsPage'),
  ),
  createPageRoute(
    '/sessions/$session_id',
    lazyRouteComponent(() => import('./pages/session-page.tsx'), 'SessionPage'),
  ),
  createPageRoute(
    '/agents',
    lazyRouteComponent(() => import('./pages/agents-page.tsx'), 'AgentsPage'),
  ),
  createPageRoute(
    '/agents/$agent_id',
    lazyRouteComponent(() => import('./pages/agent-page.tsx'), 'AgentPage'),
  ),
  createPageRoute(
    '/detection',
    lazyRouteComponent(() => import('./pages/detection-page.tsx'), 'DetectionPage'),
  ),
  createPageRoute(
    '/costs',
    lazyRouteComponent(() => import('./pages/costs-page.tsx'), 'CostsPage'),
  ),
  createPageRoute(
    '/policies',
    lazyRouteComponent(() => import('./pages/policies-page.tsx'), 'PoliciesPage'),
  ),
  createPageRoute(
    '/access',
    lazyRouteComponent(() => import('./pages/access-page.tsx'), 'AccessPage'),
  ),
  createPageRoute(
    '/alerts',
    lazyRouteComponent(() => import('./pages/alerts-page.tsx'), 'AlertsPage'),
  ),
  createPageRoute(
    '/compliance',
    lazyRouteComponent(() => import('./pages/compliance-page.tsx'), 'CompliancePage'),
  ),
  createPageRoute(
    '/audit',
    lazyRouteComponent(() => import('./pages/audit-page.tsx'), 'AuditPage'),
  ),
  createPageRoute(
    '/account',
    lazyRouteComponent(() => import('./app/account-page.tsx'), 'AccountPage'),
  ),
  createPageRoute(
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

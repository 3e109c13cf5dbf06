import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { Permission } from '../../../src/runtime/config/permissions.ts';
import { ApiError, callOperation, type OperationName, type OperationOutput, setCsrfToken } from './client.ts';
import { operationRoutes } from './routes.ts';

type ConsoleSession = OperationOutput<'sessionShow'>;

/** The session of the browser; `null` without one. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await callOperation('sessionShow', {}, signal).catch(ignoreUnauthorized);
    setCsrfToken(session?.csrf_token ?? null);
    return session;
  },
  staleTime: 60_000,
  retry: false,
});

function ignoreUnauthorized(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

/** Returns the session of the signed-in user. Only pages behind the sign-in may use it. */
export function useSession(): ConsoleSession {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null)
    throw new ApiError(401, { error: 'Your session has ended.', code: 'unauthenticated' }, null);
  return data;
}

/** Returns a function that says if the user may call an operation. Without the permission, a page shows no button for it. */
export function useMayCall(): (name: OperationName) => boolean {
  const { permissions } = useSession();
  return (name) => {
    const permission: string | null = operationRoutes[name][2];
    return permission === null || permissions.some((each) => each === permission);
  };
}

/** Returns a function that says if the user has a permission. */
export function useHasPermission(): (permission: Permission) => boolean {
  const { permissions } = useSession();
  return (permission) => permissions.includes(permission);
}

/** Returns true if an advisor is configured. Buttons for advice appear only then. */
export function useAdvisorEnabled(): boolean {
  const { data } = useQuery({
    queryKey: ['intelligenceStatus'],
    queryFn: ({ signal }) =>
      callOperation('intelligenceStatus', {}, signal).catch(() => ({ enabled: false })),
    staleTime: 300_000,
    retry: false,
  });
  return data?.enabled === true;
}

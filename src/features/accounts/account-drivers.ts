import type { Config } from '../../runtime/config/index.ts';
import { buildOff, limitTime } from '../../runtime/observability/driver-checks.ts';
import type { DriverState } from '../../runtime/observability/service-state.ts';
import { openOpenIdProvider } from './openid-provider.ts';

/** Reads the provider's discovery document again. */
export async function checkOpenIdProvider({ auth: { oidc } }: Pick<Config, 'auth'>): Promise<DriverState> {
  if (oidc === null) return buildOff('identity', 'OpenID provider', 'No `auth.oidc` is configured.');
  const answers = await limitTime(
    openOpenIdProvider(oidc).then(
      () => true,
      () => false,
    ),
    false,
  );
  return {
    ...{ kind: 'identity', name: oidc.name, driver: 'oidc', status: answers ? 'ok' : 'failing' },
    detail: answers ? null : 'Its discovery document cannot be read; no user can sign in there.',
  };
}

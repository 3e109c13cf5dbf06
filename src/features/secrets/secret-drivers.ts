import type { Runtime } from '../../operations/runtime.ts';
import { buildOff, limitTime } from '../../runtime/observability/driver-checks.ts';
import type { DriverState } from '../../runtime/observability/service-state.ts';
import { SecretReadError } from '../../runtime/secrets/secrets.ts';

/** Asks the secret backend whether it answers. */
export async function checkSecretBackend(secrets: Runtime['secrets']): Promise<DriverState> {
  if (secrets === null) return buildOff('secrets', 'secret backend', 'No `secrets.backend` is configured.');
  const about = { kind: 'secrets', name: secrets.backend, driver: secrets.backend } as const;
  const failure = await limitTime(
    secrets
      .open()
      .then(({ check }) => check())
      .then(
        () => null,
        (fault: unknown) => (fault instanceof SecretReadError ? fault.message : 'It cannot be opened.'),
      ),
    'It did not answer in time.',
  );
  return { ...about, status: failure === null ? 'ok' : 'failing', detail: failure };
}

import type { Store } from '../../platform/store/index.ts';
import { checkReceivers } from '../../runtime/observability/driver-checks.ts';
import type { DriverState } from '../../runtime/observability/service-state.ts';
import { ALERT_QUEUE_PREFIX } from './alert-store.ts';
import type { AlertService } from './types.ts';

/** Reports on each alert channel. */
export async function listAlertDrivers(
  service: () => Promise<AlertService>,
  store: () => Promise<Store>,
): Promise<readonly DriverState[]> {
  const receivers = (await service()).channels.map(({ name, type }) => ({
    queue: `${ALERT_QUEUE_PREFIX}${name}`,
    about: { kind: 'alert_channel', name, driver: type } as const,
  }));
  return checkReceivers(store, receivers);
}

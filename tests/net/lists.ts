import { alertChannelDrivers } from '../../src/drivers/alerts/index.ts';
import { STATUS } from '../../src/entry/web/errors.ts';
import { ALERT_SOURCES } from '../../src/features/alerts/rule-schema.ts';
import { EVENT_KINDS } from '../../src/features/compliance/event-kinds.ts';
import { ALERT_STATUSES } from '../../src/operations/recent-alert.ts';
import {
  OPERATOR_PERMISSIONS,
  PERMISSIONS,
  ROLE_PERMISSIONS,
  ROLES,
  SERVICE_PERMISSIONS,
} from '../../src/runtime/config/permissions.ts';
import { features } from '../../src/server/features.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import { buildMaintenanceLoops } from '../../src/server/maintenance-jobs.ts';

const refuse = () => {
  throw new Error('no job runs here');
};
const unused = async () => refuse();

/** Returns the names that users and their programs depend on and that no generated page has, one a line. */
export async function collectLists(): Promise<string> {
  const loaded = await loadConfig({ path: null, env: {}, cwd: '/nowhere', secrets: 'leave' });
  if (!loaded.ok) throw new Error('the default configuration does not load');
  const parts = {
    config: loaded.config,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, flush: async () => {} },
    store: unused,
    ports: refuse,
    runtime: refuse,
    index: unused,
    started_ms: 0,
  };
  const own = await Promise.all(features.flatMap(({ openBackground }) => openBackground?.(parts) ?? []));
  const jobs = buildMaintenanceLoops(parts, own).flat();
  const lines = [
    ...ALERT_SOURCES.map((name) => `alert source ${name}`),
    ...ALERT_STATUSES.map((name) => `alert status ${name}`),
    ...alertChannelDrivers.map(({ name }) => `alert channel ${name}`),
    ...Object.entries(STATUS).map(([code, status]) => `error code ${code} ${status}`),
    ...EVENT_KINDS.map((name) => `event kind ${name}`),
    ...jobs.map(({ name, every_ms }) => `job every ${every_ms} ms: ${name}`),
    ...own.flatMap(({ queues = [] }) => queues).map(({ name }) => `outbox queue ${name}`),
    ...PERMISSIONS.map((name) => `permission ${name}`),
    ...OPERATOR_PERMISSIONS.map((name) => `permission of people only ${name}`),
    ...SERVICE_PERMISSIONS.map((name) => `permission on all tenants only ${name}`),
    ...ROLES.flatMap((role) => ROLE_PERMISSIONS[role].map((name) => `role ${role} ${name}`)),
  ];
  return `${lines.sort().join('\n')}\n`;
}

import type { Permission } from '../../../src/runtime/config/permissions.ts';

/** One entry of the navigation. */
export interface NavigationEntry {
  readonly to: string;
  readonly title: string;
  /** Without this permission the entry is absent; the service checks each route again. `null`: for everyone. */
  readonly permission: Permission | null;
}

export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Watch',
    entries: [
      { to: '/', title: 'Overview', permission: 'dashboard:view' },
      { to: '/activity', title: 'Activity', permission: 'audit:read' },
      { to: '/incidents', title: 'Incidents', permission: 'incident:read' },
      { to: '/approvals', title: 'Approvals', permission: 'approvals:read' },
    ],
  },
  {
    title: 'Understand',
    entries: [
      { to: '/sessions', title: 'Sessions', permission: 'audit:read' },
      { to: '/agents', title: 'Agents and tools', permission: 'audit:read' },
      { to: '/detection', title: 'Detection', permission: 'audit:read' },
      { to: '/costs', title: 'Costs', permission: 'costs:read' },
    ],
  },
  {
    title: 'Govern',
    entries: [
      { to: '/policies', title: 'Policies', permission: 'policy:read' },
      { to: '/access', title: 'Tenants and access', permission: 'tenants:read' },
      { to: '/alerts', title: 'Alerts', permission: 'alerts:read' },
      { to: '/compliance', title: 'Compliance', permission: 'compliance:report' },
      { to: '/audit', title: 'Audit', permission: 'audit:read' },
      { to: '/settings', title: 'Settings and health', permission: 'dashboard:view' },
    ],
  },
];

import type { Permission } from '../../../runtime/config/permissions.ts';

/**
 * The expected permission of each route, written apart from the operations, so that a wrong one in a record is found.
 * The first row whose method and path match counts; `null` is open to everyone.
 */
export const ROUTE_PERMISSIONS: readonly (readonly [
  method: RegExp,
  path: RegExp,
  permission: Permission | null,
])[] = [
  [/./, /^\/v1\/(?:health|ready)$/, null],
  [/./, /^\/v1\/auth\//, null],
  [/POST/, /^\/v1\/session\/(?:sign-in|second-factor|set-up|passkey(?:\/options)?)$/, null],
  [/./, /^\/v1\/session(?:\/|$)/, 'account:own'],
  [/./, /^\/v1\/users(?:\/|$)/, 'users:manage'],
  [/GET/, /^\/v1\/metrics$/, 'metrics:read'],
  [/POST/, /^\/v1\/(?:scan|guard|intercept|proxy|adapters)\//, 'check'],
  [/POST/, /^\/v1\/mcp\/tools\/check$/, 'check'],
  [/GET/, /^\/v1\/mcp\/pins$/, 'approvals:read'],
  [/POST/, /^\/v1\/mcp\/pins\//, 'approvals:decide'],
  [/GET/, /^\/v1\/agents\/blocked$/, 'audit:read'],
  [/POST/, /^\/v1\/agents\/(?:un)?block$/, 'agents:block'],
  [/POST/, /^\/v1\/(?:agents|sessions)\/.*reset/, 'sessions:reset'],
  [/GET/, /^\/v1\/(?:dashboard\/)?approvals$/, 'approvals:read'],
  [/GET/, /^\/v1\/approvals\/\{request_id\}\/open$/, null],
  [/./, /^\/v1\/approvals\/\{request_id\}(?:\/cancel)?$/, 'approvals:own'],
  [/POST/, /^\/v1\/(?:dashboard\/)?approvals\/.*(?:approve|deny)$/, 'approvals:decide'],
  [/POST/, /^\/v1\/capabilities\/validate$/, 'check'],
  [/GET/, /^\/v1\/capabilities/, 'capabilities:read'],
  [/POST/, /^\/v1\/capabilities/, 'capabilities:issue'],
  [/POST/, /^\/v1\/memory\/purge-expired$/, 'memory:purge'],
  [/POST/, /^\/v1\/memory\//, 'memory:use'],
  [/POST/, /^\/v1\/secrets\/check$/, 'secrets:check'],
  [/POST/, /^\/v1\/secrets\/resolve$/, 'secrets:resolve'],
  [/POST/, /^\/v1\/policies\/reload$/, 'policy:reload'],
  [/GET/, /^\/v1\/policies\/explain\//, 'audit:read_own'],
  [/./, /^\/v1\/(?:policies\/(?:evaluate$|templates)|plugins$)/, 'policy:read'],
  [/POST/, /^\/v1\/audit\/query$/, 'audit:read_own'],
  [/POST/, /^\/v1\/audit\/import$/, 'audit:import'],
  [/GET/, /^\/v1\/dashboard\/audit\/holds$/, 'audit:export'],
  [/POST/, /^\/v1\/dashboard\/audit\/holds/, 'audit:manage'],
  [/./, /^\/v1\/dashboard\/(?:audit|evidence)\//, 'audit:export'],
  [/GET/, /^\/v1\/costs\/budget$/, 'costs:own'],
  [/GET/, /^\/v1\/dashboard\/cost\//, 'costs:read'],
  [/POST/, /^\/v1\/dashboard\/events\/query$/, 'audit:read'],
  [/GET/, /^\/v1\/dashboard\/observe\//, 'audit:read'],
  [
    /GET/,
    /^\/v1\/dashboard\/(?:overview|breakdown|detection|templates|skills(?:\/\{skill_name\})?)$/,
    'dashboard:view',
  ],
  [/POST/, /^\/v1\/dashboard\/templates\/search$/, 'dashboard:view'],
  [/POST/, /^\/v1\/dashboard\/detection\/try$/, 'policies:edit'],
  [/POST/, /^\/v1\/dashboard\/(?:skills|templates)\/(?:install|remove)$/, 'policies:edit'],
  [/GET/, /^\/v1\/dashboard\/policies\/(?:document|diff|versions)/, 'dashboard:view'],
  [/GET/, /^\/v1\/dashboard\/rules$/, 'audit:read'],
  [/GET/, /^\/v1\/dashboard\/incidents/, 'incident:read'],
  [/GET/, /^\/v1\/intelligence\/status$/, 'policy:read'],
  [
    /POST/,
    /^\/v1\/(?:dashboard\/intelligence\/explain|intelligence\/(?:auto-config|integrate))$/,
    'intelligence:explain',
  ],
  [/POST/, /^\/v1\/intelligence\//, 'audit:read'],
  [/GET/, /^\/v1\/dashboard\/tenants/, 'tenants:read'],
  [/POST|PUT/, /^\/v1\/dashboard\/tenants/, 'tenants:manage'],
  [/GET/, /^\/v1\/dashboard\/alerts/, 'alerts:read'],
  [/POST|PUT/, /^\/v1\/dashboard\/alerts\/evaluate$/, 'alerts:read'],
  [/POST|PUT/, /^\/v1\/dashboard\/alerts/, 'alerts:manage'],
  [/POST/, /^\/v1\/dashboard\/compliance\/verify$/, 'compliance:verify'],
  [/POST/, /^\/v1\/dashboard\/compliance/, 'compliance:report'],
  [/./, /^\/v1\/dashboard\/keys/, 'keys:manage'],
  [/GET/, /^\/v1\/dashboard\/(?:settings|service$)/, 'settings:read'],
  [/GET/, /^\/v1\/dashboard\/(?:policies|rules|allowlist)/, 'policy:read'],
  [/POST|PUT/, /^\/v1\/dashboard\/(?:policies|rules|allowlist)/, 'policies:edit'],
];

/** Returns the expected permission; `undefined` if no row says it. */
export function findRoutePermission(method: string, path: string): Permission | null | undefined {
  return ROUTE_PERMISSIONS.find(([methods, paths]) => methods.test(method) && paths.test(path))?.[2];
}

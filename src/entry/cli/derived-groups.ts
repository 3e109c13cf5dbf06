// Written by `npm run generate` from the operation records.
// biome-ignore-all format: one entry per line keeps the changes small.
/** The first words of the commands that are derived from operation records, and their summaries. */
export const DERIVED_GROUPS: readonly { readonly name: string; readonly summary: string }[] = [
  { name: 'agents', summary: 'block an agent' },
  { name: 'alerts', summary: 'list alert rules' },
  { name: 'allow', summary: 'list allowlisted detectors' },
  { name: 'approvals', summary: 'approve a request' },
  { name: 'audit', summary: 'erase recorded tool calls' },
  { name: 'capabilities', summary: 'revoke a capability token' },
  { name: 'cluster', summary: 'show the nodes of the cluster' },
  { name: 'keys', summary: 'create an API key' },
  { name: 'mcp', summary: 'approve a quarantined definition of a tool' },
  { name: 'observe', summary: 'draft a contract from recorded calls' },
  { name: 'policy', summary: 'list the active rules with their hits' },
  { name: 'tasks', summary: 'list tasks' },
  { name: 'templates', summary: 'list policy templates' },
  { name: 'tenants', summary: 'restore an earlier version of a tenant’s policies' },
  { name: 'users', summary: 'add a user who can sign in' },
];

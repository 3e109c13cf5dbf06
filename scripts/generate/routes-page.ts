import { type AnyOperation, describeCaller } from '../../src/operations/operation.ts';
import { operations } from '../../src/server/operations.ts';

/** Returns the text of docs/reference/routes.md: every route with the permission and the caller that it needs. */
export function renderRoutesPage(): string {
  const rows = operations.map(formatRow).sort();
  return `<!-- Written by \`npm run generate\`. -->
# Routes and their callers

This reference is for administrators and security engineers. It lists every route of the service with the permission that its caller needs. It is made from the
records that also decide. [Roles and permissions](permissions.md) lists which role has which permission; an agent's credential names its own.

A user's scope of tenants applies to every route. A caller with access to particular tenants sees and changes those alone, and is refused where all are concerned.

| Route | Permission | Besides |
|---|---|---|
${rows.join('\n')}
`;
}

/** The permissions are those of a user: one who signed in, or one whom a trusted caller names. */
function formatUser(scope: string): string {
  return scope === '' ? 'Requires a user.' : scope.replace('Requires', 'Requires a user with');
}

function formatRow(operation: AnyOperation): string {
  const { http, permission } = operation;
  const own = describeCaller(operation);
  const besides = operation.for_users !== true || own.includes('operator') ? own : formatUser(own);
  return `| \`${http.method} ${http.path}\` | ${permission === null ? 'none' : `\`${permission}\``} | ${besides} |`;
}

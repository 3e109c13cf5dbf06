import { type Context, Refusal } from '../../operations/operation.ts';
import { resolveTenants } from '../../operations/subject.ts';

/** Returns the tenants whose alerts the caller reads. An alert may name any agent, so a key for one reads none. */
export function resolveAlertTenants(
  input: { readonly tenant_id?: string | null | undefined },
  context: Context,
): '*' | readonly string[] {
  if (context.caller.agents !== '*')
    throw new Refusal('forbidden', 'Alerts name agents, and the credential is for particular ones.');
  return resolveTenants(input, context);
}

/** Returns whether the caller may see or change something of this tenant; empty for all tenants. */
export function mayUseTenant(tenantId: string, { caller }: Context): boolean {
  return caller.tenants === '*' || (tenantId !== '' && caller.tenants.includes(tenantId));
}

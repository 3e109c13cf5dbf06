/** The tenants or agents that a credential may name; `*` for any. */
export type NameScope = '*' | readonly string[];

/** Returns whether a credential may name a tenant or an agent. */
export function coversName(scope: NameScope, name: string): boolean {
  return scope === '*' || scope.includes(name);
}

/** Narrows a scope to a requested name; `null` leaves it as it is. A request never widens the scope. */
export function narrowScope(scope: NameScope, requested: string | null): NameScope {
  if (requested === null) return scope;
  return coversName(scope, requested) ? [requested] : [];
}

/** Returns the names by which a list is filtered; `undefined` for no filter. */
export function listScopeNames(scope: NameScope): readonly string[] | undefined {
  return scope === '*' ? undefined : scope;
}

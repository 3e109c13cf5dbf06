import { memoize } from '../memoize.ts';
import { foldCase } from '../tags.ts';
import type { CrossingContext, Policy, ToolContract } from '../types/index.ts';
import { buildTenantKey, buildTenantRegister, findTenantRecord } from './tenant-records.ts';

/** The contract of a crossing's tool, as `findContract` returns it. A decision looks it up once. */
export type ContractMatch = ToolContract | 'undeclared' | null;

/**
 * Returns the contract of a crossing's tool, `undeclared` if it has none, or `null` if contracts do not apply. A name
 * that differs from declared names only in case matches none of them exactly. It is undeclared if undeclared tools
 * are blocked or if several contracts match; otherwise the restrictions of the matching contract apply.
 */
export function findContract(crossing: CrossingContext, policy: Policy): ContractMatch {
  const { tool, tenant_id } = crossing;
  if (crossing.boundary !== 'action' || crossing.phase === 'message' || crossing.memory) return null;
  const found = tool === null ? null : findExact(policy, tool, tenant_id);
  if (found !== null) return found;
  if (policy.undeclared_tools !== 'allow') return 'undeclared';
  return tool === null ? null : findFolded(policy, tool, tenant_id);
}

/** Returns whether a crossing is a tool call, or its result, whose tool has no contract. */
export function isUndeclared({ boundary, phase, memory }: CrossingContext, contract: ContractMatch): boolean {
  const isToolCall = boundary === 'action' && phase !== 'message' && memory === undefined;
  return isToolCall && (contract === null || contract === 'undeclared');
}

const getExactRegister = memoize(({ contracts }: Policy) =>
  buildTenantRegister(contracts, ({ tool_name }) => tool_name),
);

/** Returns the tenant's own contract, or else the global one. */
function findExact(policy: Policy, tool: string, tenantId: string): ToolContract | null {
  return findTenantRecord(getExactRegister(policy), tenantId, tool);
}

const getFoldedRegister = memoize(({ contracts }: Policy) => {
  const register = new Map<string, ToolContract | 'undeclared'>();
  for (const each of contracts) {
    const key = buildTenantKey(each.tenant_id, foldCase(each.tool_name));
    register.set(key, register.has(key) ? 'undeclared' : each);
  }
  return register;
});

/** Returns the contract whose name equals the tool's when case is ignored; `undeclared` if there are several. */
function findFolded(policy: Policy, tool: string, tenantId: string): ToolContract | 'undeclared' | null {
  return findTenantRecord(getFoldedRegister(policy), tenantId, foldCase(tool));
}

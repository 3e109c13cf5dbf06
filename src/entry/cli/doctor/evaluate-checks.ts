import type { HookOptions } from '../../../coding-agents/hook-options.ts';
import { codingAgentRecords } from '../../../coding-agents/index.ts';
import type { HookCheck, Payload } from '../../../coding-agents/record/dialect.ts';
import { judge } from '../../../core/decision/judge.ts';
import type { Policy, Verdict } from '../../../core/types/index.ts';
import { loadConditionsOrNull } from '../../../runtime/enforcement/enforce.ts';
import { buildHookCrossing } from '../../hook/judge-checks.ts';

/** The agent and the tenant that the command of a hook names. */
export type HookActor = Pick<HookOptions, 'agent' | 'tenant'>;

/** A call that every cautious policy blocks. It is judged and never run. */
export const DESTRUCTIVE_CALL: HookCheck = { kind: 'call', tool: 'Bash', input: { command: 'rm -rf /' } };

function findDialect(agent: string) {
  return codingAgentRecords.find(({ name }) => name === agent)?.dialect;
}

/** Returns the checks that an agent's dialect reads from a payload; none if it cannot read the payload. */
export function readHookChecks(agent: string, payload: object, event: string): readonly HookCheck[] {
  const dialect = findDialect(agent);
  const name = dialect?.readEvent(payload as Payload, event) ?? null;
  return name === null ? [] : (dialect?.events[name]?.checks(payload as Payload) ?? []);
}

/** Evaluates a policy on checks without an audit event, and returns the strictest verdict. */
export async function evaluateChecks(
  policy: Policy,
  agent: string,
  actor: HookActor,
  checks: readonly HookCheck[],
): Promise<Verdict | null> {
  const question = {
    dialect: agent,
    event: '',
    agent_id: actor.agent ?? findDialect(agent)?.agent_id ?? 'unknown',
    tenant_id: actor.tenant ?? 'default',
    session_id: null,
    tool_use_id: null,
    approval_request_id: null,
    checks,
  };
  const conditions = await loadConditionsOrNull(policy);
  const verdicts = checks.map((check) =>
    judge(buildHookCrossing(check, question, Date.now()), policy, null, conditions),
  );
  return verdicts.find(({ decision }) => decision !== 'allow') ?? verdicts[0] ?? null;
}

import { dialects } from '../../../coding-agents/dialects/index.ts';
import type { HookCheck, Payload } from '../../../coding-agents/protocol/dialect.ts';
import { judge } from '../../../core/decision/judge.ts';
import type { Policy, Verdict } from '../../../core/types/index.ts';
import { loadConditionsOrNull } from '../../../runtime/enforcement/enforce.ts';
import { crossingOf } from '../../hook/judge.ts';
import type { HookOptions } from '../../hook/options.ts';

/** For whom a hook decides, as far as its command says. */
export type Subject = Pick<HookOptions, 'agent' | 'tenant'>;

/** Something that every policy of a cautious person refuses. It is judged and never run. */
export const DESTRUCTIVE: HookCheck = { kind: 'call', tool: 'Bash', input: { command: 'rm -rf /' } };

/** What a host asks at an event, in the words of its dialect; nothing where the dialect cannot read it. */
export function checksOf(host: string, payload: object, event: string): readonly HookCheck[] {
  const dialect = dialects.find(({ name }) => name === host);
  const name = dialect?.eventOf(payload as Payload, event) ?? null;
  return name === null ? [] : (dialect?.events[name]?.checks(payload as Payload) ?? []);
}

/** What a policy says to what a hook would be asked, without anything being written down; the strictest of all. */
export async function verdictOn(
  policy: Policy,
  host: string,
  { agent, tenant }: Subject,
  checks: readonly HookCheck[],
): Promise<Verdict | null> {
  const question = {
    dialect: host,
    event: '',
    agent_id: agent ?? dialects.find(({ name }) => name === host)?.agent_id ?? 'unknown',
    tenant_id: tenant ?? 'default',
    session_id: null,
    tool_use_id: null,
    approval_request_id: null,
    checks,
  };
  const conditions = await loadConditionsOrNull(policy);
  const verdicts = checks.map((check) =>
    judge(crossingOf(check, question, Date.now()), policy, null, conditions),
  );
  return verdicts.find(({ decision }) => decision !== 'allow') ?? verdicts[0] ?? null;
}

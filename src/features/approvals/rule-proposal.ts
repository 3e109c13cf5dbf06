import type { Policy } from '../../core/types/index.ts';
import { buildPolicyRefusal, readActive } from '../../operations/managed-change.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import { formatDuration } from '../../platform/store/columns.ts';
import { getScopeTerms, parseGrantOffer } from './grant-terms.ts';
import type { ApprovalLimits } from './parts.ts';
import type { GrantScope } from './scope-names.ts';
import type { ProposalSubject, RuleProposal } from './types.ts';

/**
 * Proposes a rule, or else the longest grant. A rule is proposed only if the rules that asked are about the tool and the
 * agent alone, because a policy holds no argument value that the service could write without knowing it.
 */
export function buildRuleProposal(
  subject: ProposalSubject,
  policy: Policy,
  limits: Pick<ApprovalLimits, 'grant_ttl_ms_max' | 'grant_uses_max'>,
): RuleProposal {
  const offer = parseGrantOffer(subject.grant_offer);
  const grant = findLongestGrant(offer?.scopes ?? [], limits);
  const { tool_name: tool, agent_id } = subject;
  if (offer?.scopes.includes('any_arguments') !== true || tool === null)
    return { kind: 'grant', reason: BY_VALUES, policy: null, grant };
  if (tool.includes('*') || agent_id.includes('*'))
    return { kind: 'grant', reason: BY_PATTERN, policy: null, grant };
  return { kind: 'rule', reason: BY_TOOL, policy: writeRule(subject, tool, policy), grant };
}

const BY_TOOL =
  'The rules that asked check the tool and the agent alone. This rule lets all such calls of this agent pass, whatever their arguments are: add a `when` to bound them.';
const BY_VALUES =
  'The rules that asked check argument values, their origins, or the session. A rule would have to hold these values, and the service keeps only their keyed hashes.';
const BY_PATTERN = 'The name of the tool or the agent has a `*`, which a rule reads as a pattern.';

function findLongestGrant(
  scopes: readonly GrantScope[],
  limits: Pick<ApprovalLimits, 'grant_ttl_ms_max' | 'grant_uses_max'>,
): RuleProposal['grant'] {
  const scope = scopes.includes('agent') ? 'agent' : scopes[0];
  if (scope === undefined) return null;
  const { uses_max } = getScopeTerms(scope, limits);
  return { scope, uses_max, ttl: formatDuration(limits.grant_ttl_ms_max) };
}

/** A rule’s priority if it states none. */
const PRIORITY_DEFAULT = 100;

/** Writes a document with one rule before those that asked. Names are JSON, which is YAML too. */
function writeRule(
  { request_id, tenant_id, agent_id, rules }: ProposalSubject,
  tool: string,
  policy: Policy,
): string {
  const asking = JSON.parse(rules) as readonly string[];
  const priorities = policy.rules.flatMap(({ name, priority }) => (asking.includes(name) ? [priority] : []));
  const quote = (text: string): string => JSON.stringify(text);
  return [
    'version: v1alpha1',
    'policies:',
    `  - name: approved-often-${request_id.slice(-6)}`,
    `    tenant_id: ${quote(tenant_id)}`,
    '    boundary: action',
    `    condition: {tools: [${quote(tool)}], agents: [${quote(agent_id)}]}`,
    '    action: flag',
    `    priority: ${Math.max(0, Math.min(PRIORITY_DEFAULT, ...priorities) - 1)}`,
    `    reason: ${quote('Equal calls were approved five times and never denied.')}`,
    '',
  ].join('\n');
}

/** The recorded decisions of the agent’s calls under a proposed rule. */
export interface RuleReplay {
  readonly since: string;
  readonly same: number;
  readonly stricter: number;
  readonly less_strict: number;
  /** Decisions that cannot be replayed. */
  readonly unknown: number;
}

const SINCE = '7d';

/** Replays the agent’s recorded calls of the tool under a proposed rule, in another process. Nothing changes. */
export async function replayProposedRule(
  text: string,
  { tenant_id, agent_id, tool_name }: ProposalSubject,
  context: Context,
): Promise<RuleReplay> {
  if (isReplaying)
    throw new Refusal('unavailable', 'Another replay is running. Try again when it has ended.');
  isReplaying = true;
  try {
    const { runtime } = context;
    const active = readActive(context);
    const before = active.document?.text.trimEnd() ?? '';
    const document = {
      version: (active.document?.version ?? 0) + 1,
      text: before === '' ? text : `${before}\n---\n${text}`,
    };
    const made = await runtime.compileDraft({ managed: { ...active, document } });
    if (!made.ok) throw buildPolicyRefusal(made.problems);
    const { replayApart } = await import('../../runtime/policies/run-apart.ts');
    const filter = { since: SINCE, tenant_id, agent_id, ...(tool_name !== null && { tool_name }) };
    const request = {
      ...{ state_dir: runtime.limits.state_dir, next: made.policy, active: runtime.policy() },
      ...{ filter, now_ms: runtime.now_ms() },
    };
    const { tally, since_ms } = await replayApart(request, context.signal?.());
    const { same, stricter, less_strict, unknown } = tally.total;
    return { since: new Date(since_ms).toISOString(), same, stricter, less_strict, unknown };
  } finally {
    isReplaying = false;
  }
}

/** A replay reads the whole journal, so each process runs one at a time. */
let isReplaying = false;

import { coveredBy, normalTag } from '../tags.ts';
import type {
  Breach,
  Crossing,
  JudgedFinding,
  Policy,
  Rule,
  SessionChange,
  SessionMark,
  Tag,
  ToolContract,
} from '../types/index.ts';
import { type Circumstances, circumstanceMismatch, type RuleTable } from './rules.ts';

/** Whether a rule that a tenant's crossings are asked about looks at what a session has read. */
export function asksSessions(policy: Policy, tenant_id: string): boolean {
  let tenants = asking.get(policy);
  if (tenants === undefined) {
    const rules = policy.rules.filter(
      ({ session_tags, when }) => session_tags.length > 0 || (when !== null && NAMES_SESSION.test(when)),
    );
    tenants = new Set(rules.map((rule) => rule.tenant_id));
    asking.set(policy, tenants);
  }
  return tenants.size > 0 && (tenants.has(null) || tenants.has(tenant_id));
}

const asking = new WeakMap<Policy, ReadonlySet<string | null>>();
const NAMES_SESSION = /\bsession_tags\b/;

/** All that says what a crossing that goes through makes of its session. */
export interface Read {
  readonly crossing: Crossing;
  readonly policy: Policy;
  readonly table: RuleTable;
  /** With what the policy makes of each: what is masked is not read. */
  readonly findings: readonly JudgedFinding[];
  readonly contract: ToolContract | 'undeclared' | null;
  /** Found and declared. */
  readonly data_tags: readonly Tag[];
  readonly circumstances: Circumstances;
}

/**
 * What a crossing that goes through makes of its session's tags; `null` where nothing changes. Inputs, results and
 * messages are read: what is found in them and not masked, and what is declared of them. What a contract says that
 * its tool gives out is read from the call on, for not everyone shows us results. Then the rules' own marks. Of a
 * message it is the session of who gets it.
 */
export function sessionChange(read: Read): SessionChange | null {
  const { crossing, policy, table, contract, data_tags, circumstances } = read;
  if (!asksSessions(policy, crossing.tenant_id)) return null;
  const add = new Set<Tag>(isRead(crossing) ? tagsRead(read) : []);
  if (contract !== null && contract !== 'undeclared')
    for (const tag of contract.emits.tags ?? []) add.add(tag);
  const gone = new Set<Tag>();
  let is_reset = false;
  for (const mark of table.marks) {
    if (!markFits(mark, data_tags, circumstances)) continue;
    for (const tag of mark.change.add) add.add(tag);
    if (mark.change.remove === 'all') is_reset = true;
    else for (const tag of mark.change.remove) gone.add(tag);
  }
  if (add.size === 0 && gone.size === 0 && !is_reset) return null;
  return { add: [...add].sort(), remove: is_reset ? 'all' : [...gone].sort() };
}

/** Whether a mark fits. One that takes tags away must be known to fit; one that only adds must be known not to. */
function markFits(mark: SessionMark, tags: readonly Tag[], circumstances: Circumstances): boolean {
  const is_adding = mark.change.remove !== 'all' && mark.change.remove.length === 0;
  if (mark.data_tags.length > 0 && !tags.some((tag) => coveredBy(mark.data_tags, tag))) return false;
  if (circumstanceMismatch({ ...mark, action: is_adding ? 'flag' : 'allow' }, circumstances) !== null)
    return false;
  if (mark.when === null) return true;
  try {
    return circumstances.holds(mark.when, null);
  } catch {
    return is_adding;
  }
}

/** Whether the agent gets to know what crosses: what it says itself it knows already. */
function isRead({ boundary, phase }: Crossing): boolean {
  return boundary === 'input' || phase === 'response' || phase === 'message';
}

function tagsRead({ crossing, findings }: Read): readonly Tag[] {
  const seen = findings.filter(({ action }) => action !== 'redact').flatMap(({ tags }) => tags);
  const { declared_tags, memory, phase, session_tags = [] } = crossing;
  const of_memory = memory === undefined || memory.tag === null ? [] : [memory.tag];
  // Who gets a message has read what its sender had read: it may say the same in other words.
  const passed_on = phase === 'message' ? session_tags : [];
  return [...seen, ...declared_tags.map(normalTag), ...of_memory, ...passed_on];
}

/** The violation that a rule about the session is, where it spoke. */
export function flowBreach({ name, severity, reason }: Rule): Breach {
  return { type: 'flow_violation', rule: name, severity: severity ?? 'high', path: null, reason };
}

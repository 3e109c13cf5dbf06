import { isNeverAllowed } from '../../core/decision/allowlist.ts';
import { findDecidingDocument } from '../../core/decision/deciding-documents.ts';
import { isFlowRule } from '../../core/decision/rules.ts';
import { isCoveredBy, matchesAnyCase } from '../../core/tags.ts';
import type { AllowedDetector, Policy, Rule, Tag } from '../../core/types/index.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import { openRuleSources } from '../../operations/rule-sources.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';

/** An entry's scope; `null` is any. */
export type DetectorScope = Pick<AllowedDetector, 'tool' | 'agent_id' | 'tenant_id'>;

interface KnownDetector {
  readonly id: string;
  readonly tags: readonly Tag[];
}

/**
 * Returns the detectors that decided on an event, evaluated under the active policy.
 * @throws Refusal `conflict` that names the document to change if the event is blocked without them
 */
export async function listDecidingDetectors(
  event: AuditEvent,
  context: Context,
): Promise<readonly [string, ...string[]]> {
  const policy = context.runtime.policy();
  const { readRecordedDecision } = await import('../../core/review/recorded-decision.ts');
  const { evaluateRecord } = await import('../../core/review/evaluate-record.ts');
  const { loadConditions } = await import('../../runtime/policies/conditions.ts');
  const record = readRecordedDecision(event, Date.parse(event.timestamp), await loadConditions(policy));
  if (typeof record === 'string') throw await buildDocumentRefusal(event.policy_name, context);
  const { winner, evaluations } = evaluateRecord(record, policy);
  if (winner.action === 'allow' || winner.action === 'flag')
    throw event.decision === 'allow'
      ? new Refusal('conflict', 'The event was allowed, so nothing is to be allowlisted.')
      : await buildDocumentRefusal(event.policy_name, context);
  const deciding = new Set(
    evaluations
      .filter(({ outcome }) => outcome?.action === winner.action)
      .map(({ finding }) => getTagKey(finding)),
  );
  const ids = readRuleIds(event);
  const known = await listKnownDetectors(policy);
  const found = known.filter((each) => ids.includes(each.id) && deciding.has(getTagKey(each)));
  if (found.length === 0) throw await buildDocumentRefusal(winner.rule, context);
  for (const each of found) requireAllowable(each);
  const findings = record.findings.map((finding) =>
    deciding.has(getTagKey(finding)) ? { ...finding, allowed_by: 'preview' } : finding,
  );
  const { winner: left } = evaluateRecord({ ...record, findings }, policy);
  if (left.action === 'block' || left.action === 'require_approval')
    throw await buildDocumentRefusal(left.rule, context);
  const [first, ...others] = found.map(({ id }) => id);
  return [first!, ...others];
}

/**
 * Requires that an entry for this detector has an effect in its scope.
 * @throws Refusal `not_found` for an unknown detector, `conflict` for one that no entry allows
 */
export async function requireDetector(
  ruleId: string,
  { tool, tenant_id }: DetectorScope,
  context: Context,
): Promise<void> {
  const policy = context.runtime.policy();
  const known = await listKnownDetectors(policy);
  const detector = known.find(({ id }) => id === ruleId);
  if (detector === undefined) {
    const { suggestName } = await import('../../core/policy/compile/problems.ts');
    const near = suggestName(
      ruleId,
      known.map(({ id }) => id),
    );
    throw new Refusal('not_found', `There is no detector with this name${near || '.'}`);
  }
  requireAllowable(detector);
  const own = policy.rules.find(
    (rule) =>
      rule.tenant_id !== null &&
      rule.tenant_id === tenant_id &&
      rule.enforcement === 'enforce' &&
      (rule.action === 'block' || rule.action === 'require_approval') &&
      (tool === null || rule.tools.length === 0 || matchesAnyCase(rule.tools, tool)) &&
      detector.tags.some((tag) => isCoveredBy(rule.data_tags, tag)),
  );
  if (own !== undefined) throw await buildDocumentRefusal(own.name, context);
}

async function listKnownDetectors({ detection }: Policy): Promise<readonly KnownDetector[]> {
  const { buildDetectorCatalogue } = await import('../../core/detect/registry/detector-catalogue.ts');
  return [...buildDetectorCatalogue(), ...detection.patterns];
}

function requireAllowable({ id, tags }: KnownDetector): void {
  if (!isNeverAllowed(tags)) return;
  const isGuard = tags.some((tag) => isCoveredBy(['dangerous.guard'], tag));
  throw new Refusal(
    'conflict',
    isGuard
      ? `\`${id}\` keeps agents from loosening this service, so it is never allowlisted. To change it, name \`dangerous.guard\` in a rule under \`policies\` in \`service.yaml\`.`
      : `\`${id}\` finds secrets, which are allowlisted by value. Add the value under \`detection.allowlist\` in \`service.yaml\`, as \`customshouse fingerprint add\` prints it.`,
  );
}

/** Builds the refusal for an entry without effect, because a rule or a document decides. */
async function buildDocumentRefusal(name: string, context: Context): Promise<Refusal> {
  const policy = context.runtime.policy();
  const rule = policy.rules.find((each) => each.name === name);
  const what =
    rule === undefined
      ? (findDecidingDocument(name)?.change ?? 'Show all causes with `customshouse policy explain`.')
      : await describeRuleDocument(rule, policy, context);
  return new Refusal('conflict', `\`${name}\` decides, which no allowlisted detector overrides. ${what}`);
}

async function describeRuleDocument(rule: Rule, policy: Policy, context: Context): Promise<string> {
  const { file, origin } = (await openRuleSources(policy, context))(rule);
  const kind = isFlowRule(rule) ? 'flow rule' : 'rule';
  const owner = rule.tenant_id === null ? '' : ` of the tenant \`${rule.tenant_id}\``;
  const where =
    file === null
      ? origin === 'document'
        ? 'the policy document'
        : 'the policies of the tenant'
      : `\`${file}\``;
  return `Change the ${kind}${owner}, in ${where}.`;
}

/** Returns the detectors that decided when the event was written; all that found something if the event names none. */
function readRuleIds({ metadata: { deciding_rule_ids, rule_ids } }: AuditEvent): readonly string[] {
  const ids = deciding_rule_ids ?? rule_ids;
  return Array.isArray(ids) ? ids : [];
}

function getTagKey({ tags }: { readonly tags: readonly Tag[] }): string {
  return [...tags].sort().join('+');
}

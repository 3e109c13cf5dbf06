import type { Kysely } from 'kysely';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { completeAlertRule } from './rule.ts';
import { findAlertRuleProblems } from './rule-problems.ts';
import type { AlertRuleSettings } from './rule-schema.ts';
import type { alertRules } from './tables.ts';
import type { AlertService } from './types.ts';

type Db = Kysely<StoreTables>;
type AlertRuleRow = Row<typeof alertRules>;

/** A rule of the configuration or of the store. */
export interface StoredAlertRule {
  readonly rule: AlertRuleSettings;
  readonly origin: 'configuration' | 'api';
  /** Why the rule is not evaluated; `null` if it is. */
  readonly problem: string | null;
  readonly created_by: string | null;
  readonly created_ms: number | null;
  readonly changed_by: string | null;
  readonly changed_ms: number | null;
}

/**
 * Lists all rules: those of the configuration, then those of the store by ID. A stored rule that cannot be used, for
 * example because its channel was removed, has a problem and does not affect the others.
 */
export async function listAlertRules(
  db: Db,
  { rules, channels }: Pick<AlertService, 'rules' | 'channels'>,
): Promise<readonly StoredAlertRule[]> {
  const rows = await db.selectFrom('alert_rules').selectAll().orderBy('rule_id').execute();
  const names = new Set(channels.map(({ name }) => name));
  const configured = new Set(rules.map(({ rule_id }) => rule_id));
  return [
    ...rules.map((rule) => ({ ...UNKNOWN_AUTHOR, rule, origin: 'configuration' as const, problem: null })),
    ...rows.map((row) => readStoredRule(row, names, configured)),
  ];
}

const UNKNOWN_AUTHOR = { created_by: null, created_ms: null, changed_by: null, changed_ms: null };

function readStoredRule(
  row: AlertRuleRow,
  channels: ReadonlySet<string>,
  configured: ReadonlySet<string>,
): StoredAlertRule {
  const { created_by, created_ms, changed_by, changed_ms } = row;
  const author = { created_by, created_ms, changed_by, changed_ms };
  try {
    const rule = completeAlertRule(JSON.parse(row.rule));
    const [first] = findAlertRuleProblems(rule, channels);
    const shadowed = configured.has(row.rule_id) ? 'The configuration has a rule with this ID.' : null;
    const problem = first === undefined ? shadowed : `\`${first.steps.join('.')}\` ${first.message}.`;
    return { rule, origin: 'api', problem, ...author };
  } catch {
    const rule = completeAlertRule({ rule_id: row.rule_id, name: row.rule_id, enabled: false });
    return { rule, origin: 'api', problem: 'It was saved by another version and cannot be read.', ...author };
  }
}

/** Adds or replaces a rule. */
export async function saveAlertRule(
  trx: Db,
  rule: AlertRuleSettings,
  by: { readonly caller_id: string; readonly now_ms: number },
): Promise<void> {
  const changed = {
    tenant_id: rule.tenant_id ?? '',
    rule: JSON.stringify(rule),
    changed_by: by.caller_id,
    changed_ms: by.now_ms,
  };
  await trx
    .insertInto('alert_rules')
    .values({ rule_id: rule.rule_id, created_by: by.caller_id, created_ms: by.now_ms, ...changed })
    .onConflict((conflict) => conflict.column('rule_id').doUpdateSet(changed))
    .execute();
  await forgetCounts(trx, rule.rule_id);
}

/** Removes a rule and what was counted for it. Its alerts remain. */
export async function deleteAlertRule(trx: Db, ruleId: string): Promise<void> {
  await trx.deleteFrom('alert_rules').where('rule_id', '=', ruleId).execute();
  await forgetCounts(trx, ruleId);
}

/** A changed rule counts from the beginning. */
async function forgetCounts(trx: Db, ruleId: string): Promise<void> {
  await trx.deleteFrom('alert_groups').where('rule_id', '=', ruleId).execute();
  await trx.deleteFrom('alert_signals').where('rule_id', '=', ruleId).execute();
}

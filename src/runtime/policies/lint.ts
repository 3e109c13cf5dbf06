import { lintCompiledPolicy } from '../../core/review/lint/lint.ts';
import { type LintRemark, REMARK_LEVELS, type RemarkId } from '../../core/review/lint/remark.ts';
import { ACTIONS, type DocumentProblem, type Rule } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { loadConditions } from './conditions.ts';
import { loadPolicy, type PolicyResult } from './load-policy.ts';
import { findPack, type Packs, readPacks } from './packs.ts';

/** A lint remark on a policy, with its position. */
export interface PolicyRemark extends DocumentProblem {
  readonly id: RemarkId;
}

/** The result of `customshouse policy lint`. If there are `problems`, there are no remarks. */
export interface LintReport {
  readonly policy_hash: string | null;
  /** The number of rules, contracts and identities that were checked. */
  readonly records: number;
  readonly remarks: readonly PolicyRemark[];
  readonly problems: readonly DocumentProblem[];
}

/**
 * Finds parts of a policy that compile but are probably mistakes.
 *
 * @param compiled - the policy to examine; defaults to that of the configuration
 */
export async function lintPolicy(config: Config, compiled?: PolicyResult): Promise<LintReport> {
  const made = compiled ?? (await loadPolicy(config));
  if (!made.ok) return { policy_hash: null, records: 0, remarks: [], problems: made.problems };
  const { policy, places, withLines } = made;
  const tenants = getTenants(config);
  const packs = await readPacks(config.origin.base_dir);
  const fileOf = (record: object) => places.get(record)?.file ?? config.origin.label;
  const stated = lintCompiledPolicy({ policy, conditions: await loadConditions(policy), tenants });
  const remarks = stated
    .filter((remark) => !isLayered(remark, fileOf, packs))
    .map((remark) => {
      const { file, path } = places.get(remark.record) ?? { file: config.origin.label, path: '' };
      const part = remark.part === '' ? path : `${path}.${remark.part}`;
      return { id: remark.id, level: REMARK_LEVELS[remark.id], file, path: part, message: remark.message };
    });
  return {
    policy_hash: policy.hash,
    records: policy.rules.length + policy.contracts.length + policy.identities.length,
    remarks: (await withLines(remarks)) as readonly PolicyRemark[],
    problems: [],
  };
}

/**
 * Returns whether a rule never matches because a policy pack and another file are layered on purpose. The rules
 * that match first are in other files, one side belongs to a pack, and no decision becomes less strict.
 */
function isLayered(
  { id, record, preceding_rules = [] }: LintRemark,
  fileOf: (record: object) => string,
  packs: Packs,
): boolean {
  const own = fileOf(record);
  // A pack names the tools of many agents, and tags that callers declare.
  if (NAMES.includes(id)) return findPack(packs, own) !== null;
  const { action } = record as Rule;
  return (
    preceding_rules.length > 0 &&
    preceding_rules.every((rule) => {
      const file = fileOf(rule);
      const isPack = findPack(packs, file) !== null || findPack(packs, own) !== null;
      return file !== own && isPack && ACTIONS.indexOf(rule.action) >= ACTIONS.indexOf(action);
    })
  );
}

const NAMES: readonly RemarkId[] = [
  ...(['unknown-tag', 'unknown-detector', 'undeclared-tool', 'undeclared-agent'] as const),
  'argument-without-schema',
];

/**
 * Returns the tenants that users and keys name, or `null` if one can act for any tenant or none is configured.
 */
function getTenants({ dashboard, auth }: Config): readonly string[] | null {
  const lists = [
    ...dashboard.users.map(({ tenants }) => tenants),
    ...auth.api_keys.map(({ tenants }) => tenants ?? ['*']),
  ];
  const all = lists.flat();
  return all.length === 0 || all.includes('*') || auth.jwt !== null ? null : [...new Set(all)];
}

import type { Policy, Rule } from '../core/types/index.ts';
import type { PolicyResult } from '../runtime/policies/load-policy.ts';
import { findManagedOrigin } from '../runtime/policies/managed-input.ts';
import { findPack, readPacks } from '../runtime/policies/packs.ts';
import type { Context } from './operation.ts';

/** The kinds of sources. `document` and `tenant_set` are edited over the API; the others in files. */
export const RULE_ORIGINS = [
  'configuration',
  'file',
  'pack',
  'tenant_set',
  'document',
  'builtin',
  'unknown',
] as const;
export type RuleOrigin = (typeof RULE_ORIGINS)[number];

/** The source of a rule: its kind, and the file if it has one. */
export interface RuleSource {
  readonly origin: RuleOrigin;
  /** The name of the file in messages; `null` for a rule that is edited over the API, and for a built-in one. */
  readonly file: string | null;
}

const UNKNOWN: RuleSource = { origin: 'unknown', file: null };

/**
 * Returns a function that finds the source of an active rule. Compiles the policy again, because only the compiler has
 * the sources. They are `unknown` if a file was changed and not reloaded.
 */
export async function openRuleSources(
  active: Policy,
  { runtime }: Context,
): Promise<(rule: Rule) => RuleSource> {
  const builtin = new Set(active.builtin_rules);
  const [made, read] = await Promise.all([
    runtime.compileDraft({}).catch((): PolicyResult => ({ ok: false, problems: [], warnings: [] })),
    runtime.configuration().catch(() => ({ ok: false as const })),
  ]);
  const isSame = made.ok && read.ok && made.policy.hash === active.hash;
  const packs = read.ok ? await readPacks(read.config.origin.base_dir) : null;
  const places = new Map(
    isSame
      ? made.policy.rules.map((rule) => [getKey(rule), made.places.get(rule)?.file ?? null] as const)
      : [],
  );
  return (rule) => {
    if (builtin.has(rule)) return { origin: 'builtin', file: null };
    const file = places.get(getKey(rule));
    if (file === undefined || file === null || !read.ok) return UNKNOWN;
    if (file === read.config.origin.label) return { origin: 'configuration', file };
    const managed = findManagedOrigin(file);
    if (managed !== null) return { origin: managed, file: null };
    const isPack = packs !== null && findPack(packs, file) !== null;
    return { origin: isPack ? 'pack' : 'file', file };
  };
}

function getKey({ tenant_id, name }: Pick<Rule, 'tenant_id' | 'name'>): string {
  return JSON.stringify([tenant_id, name]);
}

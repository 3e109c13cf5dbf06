import type { DocumentProblem, Policy } from '../../core/types/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import type { Config } from '../config/schema.ts';
import type { PolicyResult } from './load-policy.ts';

type LoadedPolicy = Extract<PolicyResult, { ok: true }>;

/** Finds what probably does something else than intended in a valid policy. */
export async function findPolicyWarnings(
  config: Config,
  loaded: LoadedPolicy,
): Promise<readonly DocumentProblem[]> {
  const { label } = config.origin;
  return loaded.withLines([
    ...findBlockedTools(config, loaded.policy),
    ...(await findMisspeltTags(loaded, label)),
    ...(await findMarkingTags(loaded, label)),
  ]);
}

/** Returns a warning if gateway mode blocks all tools because none is declared. */
function findBlockedTools({ server, policy, origin }: Config, { contracts }: Policy): DocumentProblem[] {
  if (server.mode !== 'gateway' || policy.undeclared_tools !== 'block' || contracts.length > 0) return [];
  const predicate =
    'is `gateway`, so every tool call is blocked: no contract declares a tool. Declare the tools (`contracts/`), or set `policy.undeclared_tools: allow`';
  return [buildConfigProblem(origin.label, ['server', 'mode'], predicate, undefined, 'warning')];
}

/** Returns a warning for each contract that limits no result because its tags only mark a private source. */
async function findMarkingTags({ policy, places }: LoadedPolicy, file: string): Promise<DocumentProblem[]> {
  if (policy.contracts.every(({ emits }) => emits.tags === null)) return [];
  const { findSourceTagRemarks } = await import('../../core/review/lint/source-tags.ts');
  return findSourceTagRemarks(policy).map(({ record, message }) => ({
    ...(places.get(record) ?? { file, path: '' }),
    message,
    level: 'warning',
  }));
}

/**
 * Returns warnings for unknown detectors, and for tags of rules and contracts that no source produces but that resemble a known tag. `service
 * policy lint` reports all others of rules, because callers may declare tags.
 */
async function findMisspeltTags({ policy, places }: LoadedPolicy, file: string): Promise<DocumentProblem[]> {
  const hasTags =
    policy.rules.some(({ data_tags, session_tags }) => data_tags.length + session_tags.length > 0) ||
    policy.contracts.length > 0;
  if (!hasTags) return [];
  // The import includes all detectors, which would delay the start of a service without such records.
  const { findNameRemarks } = await import('../../core/review/lint/names.ts');
  return findNameRemarks(policy)
    .filter(
      ({ id, is_misspelt = false }) => id === 'unknown-detector' || (id === 'unknown-tag' && is_misspelt),
    )
    .map(({ record, message }) => ({
      ...(places.get(record) ?? { file, path: '' }),
      message,
      level: 'warning',
    }));
}

import { judge } from '../../core/decision/judge.ts';
import { createContent } from '../../core/json/source.ts';
import { covers } from '../../core/tags.ts';
import type { Policy } from '../../core/types/index.ts';
import { buildTextCrossing, buildUnknownActor } from '../../runtime/enforcement/crossings.ts';
import { listNames } from './names.ts';
import type { ReportedEvent } from './shape.ts';

/**
 * Returns the names in reported decisions that hold a secret, as the policy of the service detects it; `null` if the
 * names cannot be scanned as a whole. A program chooses these names, so that one could carry what was matched.
 */
export function detectSecretNames(
  events: readonly ReportedEvent[],
  policy: Policy,
  nowMs: number,
): ReadonlySet<string> | null {
  const names = [...new Set(events.flatMap(listNames))];
  if (names.length === 0) return new Set();
  const crossing = buildTextCrossing('input', buildUnknownActor(nowMs), createContent(names));
  const { coverage, fault, findings } = judge(crossing, policy, null);
  if (fault || coverage.status === 'partial') return null;
  const secrets = findings.filter(({ tags }) => tags.some((tag) => covers('secret', tag)));
  return new Set(secrets.map(({ leaf }) => names[leaf]!));
}

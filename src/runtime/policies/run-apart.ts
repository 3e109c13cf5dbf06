import type { LintRemark } from '../../core/review/lint/remark.ts';
import type { Policy } from '../../core/types/index.ts';
import { runApart } from '../../platform/apart.ts';
import { parseFilter } from '../audit/filter.ts';
import type { ReplayFilter, ReplayReport } from './replay.ts';

/** A replay for another process: plain data. */
export interface ReplayRequest {
  /** The folder with `journal` and `policies`. */
  readonly state_dir: string;
  readonly next: Policy;
  /** The active policy, which need not be saved. */
  readonly active: Policy;
  readonly filter: ReplayFilter;
  readonly now_ms: number;
}

/** A request to the process. */
export type ApartRequest =
  | { readonly kind: 'replay'; readonly replay: ReplayRequest }
  | { readonly kind: 'lint'; readonly policy: Policy };

const MINUTES_MAX = 15;
const program = new URL('./apart-process', import.meta.url);

/**
 * Replays recorded decisions in a separate process with low priority, because a replay reads the whole journal, and
 * decisions must not wait for it. The process ends with this one.
 *
 * @throws AuditFilterError if the filter is not valid
 * @throws Unavailable if the process fails, takes more than 15 minutes, or is stopped by the signal
 */
export function replayApart(replay: ReplayRequest, signal?: AbortSignal): Promise<ReplayReport> {
  parseFilter({ ...replay.filter }, replay.now_ms);
  const request: ApartRequest = { kind: 'replay', replay };
  const failure = 'The recorded decisions were not replayed';
  return runApart({ program, request, failure, minutes_max: MINUTES_MAX, signal }) as Promise<ReplayReport>;
}

/** Lints a compiled policy in a process of its own, for the same reason. @throws Unavailable as `replayApart` does */
export function lintApart(policy: Policy, signal?: AbortSignal): Promise<readonly LintRemark[]> {
  const request: ApartRequest = { kind: 'lint', policy };
  const failure = 'The policy was not linted';
  const linted = runApart({ program, request, failure, minutes_max: MINUTES_MAX, signal });
  return linted as Promise<readonly LintRemark[]>;
}

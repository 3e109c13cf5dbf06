/** The main module of the process that replays recorded decisions or lints a policy. */
import { join } from 'node:path';
import { lintCompiledPolicy } from '../../core/review/lint/lint.ts';
import type { Policy } from '../../core/types/index.ts';
import { answerApart } from '../../platform/apart.ts';
import { loadConditions } from './conditions.ts';
import { replayJournal } from './replay.ts';
import type { ApartRequest, ReplayRequest } from './run-apart.ts';
import { readPolicy } from './saved-policy.ts';

answerApart<ApartRequest>((request) =>
  request.kind === 'replay' ? replayRequested(request.replay) : lintRequested(request.policy),
);

async function lintRequested(policy: Policy) {
  return lintCompiledPolicy({ policy, conditions: await loadConditions(policy), tenants: null });
}

function replayRequested({ state_dir, active, ...request }: ReplayRequest) {
  const policiesDir = join(state_dir, 'policies');
  return replayJournal({
    ...request,
    journal_dir: join(state_dir, 'journal'),
    policyOf: async (hash) =>
      hash === active.hash ? active : readPolicy(policiesDir, hash).catch(() => null),
  });
}

/**
 * The main module of the process that replays recorded decisions or lints a policy. It receives one request, sends one
 * answer, and ends; also when the process that started it ends.
 */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { lintCompiledPolicy } from '../../core/review/lint/lint.ts';
import { loadConditions } from './conditions.ts';
import { replayJournal } from './replay.ts';
import type { ApartAnswer, ApartRequest, ReplayRequest } from './run-apart.ts';
import { readPolicy } from './saved-policy.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// Ctrl-C at a terminal reaches this process too; the one that started it ends it.
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit(1));
process.once('message', (request: ApartRequest) => {
  answerRequest(request).then(
    (message) => process.send?.(message, () => process.exit(0)),
    () => process.exit(1),
  );
});

async function answerRequest(request: ApartRequest): Promise<ApartAnswer> {
  try {
    return {
      result: await (request.kind === 'replay'
        ? replayRequested(request.replay)
        : lintRequested(request.policy)),
    };
  } catch (fault) {
    const code = (fault as NodeJS.ErrnoException | null)?.code ?? 'UNKNOWN';
    return { error: `a file cannot be read (${code}). Check the disk, and try again.` };
  }
}

async function lintRequested(policy: Parameters<typeof loadConditions>[0]) {
  return lintCompiledPolicy({ policy, conditions: await loadConditions(policy), tenants: null });
}

function replayRequested({ state_dir, active, ...request }: ReplayRequest) {
  const policies_dir = join(state_dir, 'policies');
  return replayJournal({
    ...request,
    journal_dir: join(state_dir, 'journal'),
    policyOf: async (hash) =>
      hash === active.hash ? active : readPolicy(policies_dir, hash).catch(() => null),
  });
}

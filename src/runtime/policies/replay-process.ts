/**
 * The main module of the process that replays recorded decisions. It receives one request, sends one answer, and ends;
 * also when the process that started it ends.
 */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { replayJournal } from './replay.ts';
import type { ReplayAnswer, ReplayRequest } from './replay-apart.ts';
import { readPolicy } from './saved-policy.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// Ctrl-C at a terminal reaches this process too; the one that started it ends it.
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit(1));
process.once('message', (request: ReplayRequest) => {
  answer(request).then(
    (message) => process.send?.(message, () => process.exit(0)),
    () => process.exit(1),
  );
});

async function answer({ state_dir, active, ...request }: ReplayRequest): Promise<ReplayAnswer> {
  const policies_dir = join(state_dir, 'policies');
  try {
    const report = await replayJournal({
      ...request,
      journal_dir: join(state_dir, 'journal'),
      policyOf: async (hash) =>
        hash === active.hash ? active : readPolicy(policies_dir, hash).catch(() => null),
    });
    return { report };
  } catch (fault) {
    const code = (fault as NodeJS.ErrnoException | null)?.code ?? 'UNKNOWN';
    return { error: `a file cannot be read (${code}). Check the disk, and try again.` };
  }
}

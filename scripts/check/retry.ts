import { type FileOutcome, formatPath, type Outcome, sumCounts } from './outcome.ts';

/** The most files that may fail and pass when they run again. With more, something common to them is wrong. */
const UNSTABLE_FILES_MAX = 3;

/**
 * Runs each failed test file once more, alone. A file that passes then counts as passed and unstable, so that one
 * unstable test does not hold up all other work. Its cause is still a defect, which the summary names.
 *
 * @param runAlone - runs one test file
 * @returns the outcomes, with those of the stages that passed in this way replaced
 */
export async function retryFailedFiles(
  outcomes: readonly Outcome[],
  runAlone: (file: string) => Promise<Outcome>,
  say: (line: string) => void,
): Promise<readonly Outcome[]> {
  const failed = outcomes.flatMap(({ files = [] }) => files.filter(({ file, ok }) => !ok && file !== ''));
  if (failed.length === 0) return outcomes;
  if (failed.length > UNSTABLE_FILES_MAX) {
    say(`${failed.length} test files failed. No more than ${UNSTABLE_FILES_MAX} are run again.`);
    return outcomes;
  }
  const retried = new Map<string, FileOutcome>();
  for (const first of failed) retried.set(first.file, await retryFile(first, runAlone, say));
  return outcomes.map((outcome) => replaceFiles(outcome, retried));
}

async function retryFile(
  first: FileOutcome,
  runAlone: (file: string) => Promise<Outcome>,
  say: (line: string) => void,
): Promise<FileOutcome> {
  const { file } = first;
  say(`\nRunning ${formatPath(file)} again, alone ...`);
  const { ok, files = [], output: failures } = await runAlone(file);
  const again = files.find((each) => each.file === file);
  const outputs = [
    ['first run', first.output],
    ['second run', ok ? (again?.output ?? '') : failures],
  ].map(([run, output]) => `${run}:\n${output === '' ? '(nothing printed)' : output}`);
  const isUnstable = ok && again !== undefined;
  if (isUnstable) say(`unstable: ${formatPath(file)}\n\n${outputs.join('\n\n')}\n`);
  return {
    file,
    ok: isUnstable,
    counts: again?.counts ?? first.counts,
    duration_ms: again?.duration_ms ?? first.duration_ms,
    output: outputs.join('\n\n'),
    is_unstable: isUnstable,
  };
}

function replaceFiles(outcome: Outcome, retried: ReadonlyMap<string, FileOutcome>): Outcome {
  const { files = [] } = outcome;
  if (!files.some(({ file }) => retried.has(file))) return outcome;
  const replaced = files.map((each) => retried.get(each.file) ?? each);
  const failed = replaced.filter(({ ok }) => !ok);
  return {
    ...outcome,
    ok: failed.length === 0,
    output: failed.map(({ output }) => output).join('\n\n'),
    counts: sumCounts(replaced.map(({ counts }) => counts)),
    files: replaced,
  };
}

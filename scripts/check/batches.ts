import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type FileOutcome, formatPath, formatSeconds, type Outcome, sumCounts } from './outcome.ts';
import { checkByTests } from './tests.ts';

/** Test files that one process runs, by a file that imports them. */
interface Batch {
  readonly file: string;
  readonly members: readonly string[];
}

/** Both cores then have work until the round ends. */
const MEMBERS_MAX = 40;
/** Matches a test that changes its process, starts others, or has hooks, which in a batch run for all its files. */
const NEEDS_OWN_PROCESS =
  /\b(?:before|after)(?:Each)?\(|\bprocess\.|globalThis|\bmock\b|\bspawn|\blisten\(|withFolder|withStores|runProcess|registerHooks/;

/**
 * Runs test files like `checkByTests`, and small ones next to the sources many in a process, because they spend most
 * of their time on starting a process and loading the sources. Each file has its own outcome. If a batch fails, its
 * files run again, each in a separate process, and that outcome counts.
 */
export async function checkInBatches(
  name: string,
  files: readonly string[],
  say: (line: string) => void,
  flags: readonly string[] = [],
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'batches-'));
  try {
    const batches = writeBatches(files, folder);
    const batched = new Set(batches.flatMap(({ members }) => members));
    const queue = [...batches.map(({ file }) => file), ...files.filter((file) => !batched.has(file))];
    const first = await checkByTests(name, queue, say, flags);
    const failed = batches.filter((batch) => !hasPassed(batch, first));
    for (const { file, ok, counts, duration_ms } of first.files ?? [])
      if (ok && batched.has(file))
        say(`ok     ${formatPath(file)}  ${counts.tests} tests, ${formatSeconds(duration_ms)}`);
    const members = failed.flatMap((batch) => batch.members);
    if (members.length > 0)
      say(`A batch failed. Its files run again, each in a process of its own: ${members.length} ...`);
    const second = members.length === 0 ? null : await checkByTests(name, members, say, flags);
    return joinOutcomes(first, second, batches, failed);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes a file for each batch. A batch's files test the same layer, so that they share most of what they load. */
function writeBatches(files: readonly string[], folder: string): readonly Batch[] {
  const small = files.filter(
    (file) => !/\.(?:long|fresh|nightly)\.test\.ts$/.test(file) && canShareProcess(file),
  );
  const layers = Map.groupBy(small, (file) => relative(process.cwd(), file).split('/').slice(0, 2).join('-'));
  const batches = [...layers].flatMap(([layer, all]) =>
    Array.from({ length: Math.ceil(all.length / MEMBERS_MAX) }, (_, at) => ({
      file: join(folder, `${layer}-${at + 1}.test.mjs`),
      members: all.slice(at * MEMBERS_MAX, (at + 1) * MEMBERS_MAX),
    })),
  );
  const shared = batches.filter(({ members }) => members.length > 1);
  for (const { file, members } of shared)
    writeFileSync(file, members.map((each) => `await import('${pathToFileURL(each).href}');\n`).join(''));
  return shared;
}

function canShareProcess(file: string): boolean {
  return !NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8'));
}

/** Returns whether each file in a batch has run tests, and all passed. */
function hasPassed({ file, members }: Batch, { files = [] }: Outcome): boolean {
  const passed = new Set(files.filter(({ ok }) => ok).map((each) => each.file));
  return [file, ...members].every((each) => passed.has(each));
}

function joinOutcomes(
  first: Outcome,
  second: Outcome | null,
  batches: readonly Batch[],
  failed: readonly Batch[],
): Outcome {
  const again = new Set(failed.flatMap(({ members }) => members));
  const alone = second?.files ?? [];
  const files = [...(first.files ?? []).filter(({ file }) => !again.has(file)), ...alone].map((each) => {
    const batch = batches.find(({ file }) => file === each.file);
    return batch === undefined ? each : describeBatch(each, batch, first, alone);
  });
  const broken = files.filter(({ ok }) => !ok);
  return {
    ...first,
    ok: files.length > 0 && broken.length === 0,
    duration_ms: first.duration_ms + (second?.duration_ms ?? 0),
    output: broken.map(({ output }) => output).join('\n\n'),
    counts: sumCounts(files.map(({ counts }) => counts)),
    skipped: [...new Set([...first.skipped, ...(second?.skipped ?? [])])],
    files,
  };
}

/** Counts the tests at the batch's files. A batch that fails although each file passes alone is unstable. */
function describeBatch(
  outcome: FileOutcome,
  { members }: Batch,
  { files = [] }: Outcome,
  alone: readonly FileOutcome[],
): FileOutcome {
  const own = { ...outcome, ok: true, counts: sumCounts([]) };
  const ranAlone = alone.filter(({ file }) => members.includes(file));
  if (ranAlone.length === 0 || ranAlone.some(({ ok }) => !ok)) return own;
  const failures = files.filter(({ file, ok }) => !ok && members.includes(file)).map(({ output }) => output);
  return { ...own, is_unstable: true, output: [outcome.output, ...failures].join('\n\n') };
}

/**
 * `npm run quality`: measures the detection of secrets, personal data, injections and commands, on the labelled
 * rows in the repository and on external corpora.
 *
 *   --corpora DIR     the folder of the corpora (default: $CORPORA, else ../shared/corpora)
 *   --category NAME   one category only
 *   --set own|corpora one set only
 *   --brief           leave out types and rows
 *   --texts           print the beginning of each text with a wrong result, for work on detectors
 *   --predictions DIR write the findings, one file per category
 *   --goals           compare the figures of the corpora and of the fresh rows with the goals, and print nothing else
 *   --check           compare with the baseline and print regressions; exits with 1 if there are any
 *   --figures         write the figures of detectors to data/detector-figures.json, and nothing else
 *   --write           make these figures the baseline, and write docs/reference/detection-figures.md
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CATEGORIES, type Category } from '../../src/features/quality/index.ts';
import { formatQuality } from '../../src/features/quality/quality-report.ts';
import { describeRegressions, readBaseline, SETS, withReached, writeBaseline } from './baseline.ts';
import { mergeLabelled } from './detector-figures.ts';
import { measureFresh } from './fresh.ts';
import { renderGoals } from './goals.ts';
import {
  buildCorpusPath,
  loadDefaultPolicy,
  measureCorpus,
  measureOwn,
  type QualityMeasurement,
} from './measure.ts';
import { writePage } from './page.ts';
import { listMistakeTexts } from './texts.ts';

const { values: options } = parseArgs({
  options: {
    corpora: { type: 'string' },
    category: { type: 'string' },
    set: { type: 'string' },
    brief: { type: 'boolean', default: false },
    texts: { type: 'boolean', default: false },
    predictions: { type: 'string' },
    check: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    figures: { type: 'boolean', default: false },
    goals: { type: 'boolean', default: false },
  },
});
const folder = resolve(
  options.corpora ?? process.env.CORPORA ?? join(import.meta.dirname, '../../../shared/corpora'),
);
const scratch = mkdtempSync(join(tmpdir(), 'quality-'));
try {
  await main();
} finally {
  rmSync(scratch, { recursive: true });
}

async function main(): Promise<void> {
  const measured = await measureAll();
  if (options.goals) await printGoals(measured);
  else if (options.check) checkBaseline(measured);
  else for (const each of measured) await printMeasurement(each);
  for (const { category, differences } of measured) {
    for (const difference of differences) console.log(`score.mjs, ${category}, ${difference}`);
    if (differences.length > 0) process.exitCode = 1;
  }
  if (options.write || options.figures)
    mergeLabelled(
      new Map(
        measured.filter(({ set }) => set === 'corpora').map(({ category, tally }) => [category, tally]),
      ),
    );
  if (!options.write) return;
  const reachedIn = (set: QualityMeasurement['set']) =>
    new Map(measured.filter((each) => each.set === set).map(({ category, reached }) => [category, reached]));
  writeBaseline(withReached(readBaseline(), { own: reachedIn('own'), corpora: reachedIn('corpora') }));
  const isAll = CATEGORIES.every((each) =>
    SETS.every((set) => measured.some((one) => one.category === each && one.set === set)),
  );
  if (isAll) writePage(measured, await measureFresh(folder, await loadDefaultPolicy()));
  console.log(
    isAll
      ? 'The baseline and docs/reference/detection-figures.md are written.'
      : 'The baseline is written; docs/reference/detection-figures.md needs all categories and the corpora, and is left alone.',
  );
}

async function measureAll(): Promise<readonly QualityMeasurement[]> {
  const policy = await loadDefaultPolicy();
  const wanted = CATEGORIES.filter((each) => options.category === undefined || options.category === each);
  const sets = SETS.filter((each) => options.set === undefined || options.set === each);
  if (wanted.length === 0 || sets.length === 0) throw new Error('there is no such category or set');
  const predictions = options.predictions === undefined ? scratch : resolve(options.predictions);
  mkdirSync(predictions, { recursive: true });
  const measured: QualityMeasurement[] = [];
  for (const category of wanted) {
    if (sets.includes('own')) measured.push(await measureOwn(category, policy));
    if (sets.includes('corpora') && isThere(category))
      measured.push(await measureCorpus(folder, category, policy, join(predictions, `${category}.jsonl`)));
  }
  return measured;
}

async function printGoals(measured: readonly QualityMeasurement[]): Promise<void> {
  const fresh = await measureFresh(folder, await loadDefaultPolicy());
  if (fresh === null) throw new Error(`There are no fresh rows in ${folder}.`);
  console.log(
    renderGoals(
      measured.filter(({ set }) => set === 'corpora'),
      fresh,
    ),
  );
}

function isThere(category: Category): boolean {
  const path = buildCorpusPath(folder, category);
  if (existsSync(path)) return true;
  console.log(`There is no ${path}, so ${category} are measured on the rows of the repository only.`);
  return false;
}

function checkBaseline(measured: readonly QualityMeasurement[]): void {
  const baseline = readBaseline();
  const sentences = measured.flatMap(({ set, category, reached }) =>
    describeRegressions(`${set} ${category}`, baseline[set][category], reached),
  );
  for (const sentence of sentences) console.log(sentence);
  if (sentences.length === 0) {
    console.log(`${measured.length} sets of rows: no figure is lower than the baseline.`);
    return;
  }
  console.log(
    'Fix it; or if a loss is intended, give the reason in the commit and run `npm run quality -- --write`.',
  );
  process.exitCode = 1;
}

async function printMeasurement({ set, category, report }: QualityMeasurement): Promise<void> {
  console.log(`\n# ${category}, ${set === 'own' ? 'the rows of the repository' : folder}\n`);
  for (const line of formatQuality(report, options.brief)) console.log(line);
  if (options.texts) for (const line of await listMistakeTexts(set, folder, report)) console.log(line);
}

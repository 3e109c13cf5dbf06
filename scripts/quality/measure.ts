/**
 * Measures the findings of a service without configuration, on the rows in the repository and on external
 * corpora.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Policy } from '../../src/core/types/index.ts';
import type { GuardedPaths } from '../../src/core/types/policy.ts';
import {
  type Category,
  measureRows,
  openPredictions,
  type QualityReport,
  readCorpus,
} from '../../src/features/quality/index.ts';
import { loadPolicy } from '../../src/runtime/policies/index.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import { type BaselineFigures, getReached, type RowSet } from './baseline.ts';
import { countLabelledRow, type LabelledTally } from './detector-figures.ts';
import { own } from './own/index.ts';
import { findScorerDifferences } from './scorer.ts';

export interface QualityMeasurement {
  readonly set: RowSet;
  readonly category: Category;
  readonly report: QualityReport;
  readonly reached: BaselineFigures;
  /** Counts of each detector on the corpora. */
  readonly tally: LabelledTally;
  /** Differences between our figures and those of the corpora's own scorer. */
  readonly differences: readonly string[];
}

/**
 * Guarded paths of an installation that does not exist. The figures must not depend on the folder of the
 * checkout: in a checkout below `/tmp`, `rm -rf /tmp` deletes the service itself and is rightly found.
 */
const INSTALLATION: GuardedPaths = {
  home: '/home/operator',
  base_dir: '/opt/customshouse-installation',
  state_dirs: ['/opt/customshouse-installation/.service'],
  files: ['/opt/customshouse-installation/service.yaml'],
};

/** Loads the default policy, as a service without a configuration file has it. */
export async function loadDefaultPolicy(): Promise<Policy> {
  const config = await loadConfig({ path: null, env: {}, cwd: import.meta.dirname });
  const made = config.ok ? await loadPolicy(config.config, { guarded_paths: INSTALLATION }) : null;
  if (!made?.ok) throw new Error('the configuration without a file is not valid');
  return made.policy;
}

/** Measures the rows in the repository. */
export async function measureOwn(category: Category, policy: Policy): Promise<QualityMeasurement> {
  const rows = own[category];
  const report = await measureRows(rows, { category, policy, severity_min: 'low' });
  return {
    set: 'own',
    category,
    report,
    reached: getReached(
      report,
      getHash(JSON.stringify(rows.map(({ text, label, labels }) => [text, label, labels]))),
    ),
    tally: { positives: 0, benign: 0, detectors: {} },
    differences: [],
  };
}

/**
 * Measures a corpus of the folder, writes the findings to `predictions`, and compares the counts with those
 * of the folder's `score.mjs`, if there is one.
 */
export async function measureCorpus(
  folder: string,
  category: Category,
  policy: Policy,
  predictions: string,
): Promise<QualityMeasurement> {
  const path = buildCorpusPath(folder, category);
  const file = await openPredictions(predictions, category);
  const tally: LabelledTally = { positives: 0, benign: 0, detectors: {} };
  const report = await measureRows(readCorpus(path, path, category), {
    category,
    policy,
    severity_min: 'low',
    onRow: (row, prediction) => {
      const found = prediction.hits.map(({ type }) => type);
      // Rows that are benign for one type only count on neither side.
      if (!/^benign-for/.test(row.label)) countLabelledRow(tally, row.label === 'benign', found);
      return file.add(row, prediction);
    },
  });
  await file.close();
  const reached = getReached(report, getHash(readFileSync(path)));
  const scorer = join(folder, 'score.mjs');
  const differing = existsSync(scorer)
    ? findScorerDifferences(scorer, path, predictions, category, reached)
    : [];
  return { set: 'corpora', category, report, reached, tally, differences: differing };
}

/** Returns the corpus file of a category. */
export function buildCorpusPath(folder: string, category: Category): string {
  return join(folder, `${category}.dev.jsonl.gz`);
}

function getHash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

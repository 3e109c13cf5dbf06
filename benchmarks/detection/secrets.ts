/**
 * How well secrets are found: the labelled secrets of the shared corpora beside the repository, judged by the
 * `score.mjs` that stands there. Prints the figures per source and tier, and with `--misses` the types that
 * were missed with their counts. None of the texts is kept or printed. `node benchmarks/detection/secrets.ts`
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { detect } from '../../src/core/detect.ts';
import { DETECTION as EVERYTHING } from '../../src/core/testing/policies.ts';

interface Row {
  readonly id: string;
  readonly text: string;
  readonly label: string;
  readonly type: string;
  readonly labels: readonly { readonly start: number; readonly end: number }[];
}

interface Prediction {
  readonly id: string;
  readonly hits: readonly { readonly start: number; readonly end: number; readonly type: string }[];
}

const LIMITS = { text_bytes_max: 1 << 24, depth_max: 100, nodes_max: 1 << 20, findings_max: 1 << 16 };
const CORPORA = fileURLToPath(new URL('../../../shared/corpora/', import.meta.url));
const GOLD = join(CORPORA, 'secrets.dev.jsonl.gz');

const DETECTION = { ...EVERYTHING, pii_protection: false };

function predict({ id, text }: Row): Prediction {
  const { findings } = detect({ kind: 'text', text }, DETECTION, LIMITS);
  const secrets = findings.filter(({ type }) => type === 'secret_detected');
  return { id, hits: secrets.map(({ start, end, rule_id }) => ({ start, end, type: rule_id })) };
}

function isMissed({ label, labels }: Row, { hits }: Prediction): boolean {
  const isHit = (start: number, end: number) => hits.some((hit) => hit.start < end && start < hit.end);
  return label === 'secret' && !labels.some(({ start, end }) => isHit(start, end));
}

function printMisses(rows: readonly Row[], predictions: readonly Prediction[]): void {
  const missed = rows.filter((row, at) => isMissed(row, predictions[at]!));
  for (const [type, of_type] of Map.groupBy(missed, ({ type }) => type)) {
    console.log(`${String(of_type.length).padStart(5)}  ${type}`);
  }
}

function main(): void {
  if (!existsSync(GOLD)) {
    console.log(`There are no labelled secrets at ${GOLD}; nothing was measured.`);
    return;
  }
  const lines = gunzipSync(readFileSync(GOLD)).toString('utf8').split('\n').filter(Boolean);
  const rows = lines.map((line) => JSON.parse(line) as Row);
  const from = performance.now();
  const predictions = rows.map(predict);
  const seconds = (performance.now() - from) / 1000;
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  const file = join(folder, 'predictions.jsonl');
  writeFileSync(file, predictions.map((prediction) => JSON.stringify(prediction)).join('\n'));
  const score = [join(CORPORA, 'score.mjs'), 'secrets', GOLD, file, '--detail'];
  const figures = execFileSync(process.execPath, score, { encoding: 'utf8' }).split('\n');
  rmSync(folder, { recursive: true });
  console.log(figures.filter((line) => !line.startsWith('  type ')).join('\n'));
  console.log(`${rows.length} texts in ${seconds.toFixed(2)} s`);
  if (process.argv.includes('--misses')) printMisses(rows, predictions);
}

main();

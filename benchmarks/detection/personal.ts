/**
 * Personal data found in the labelled corpus, and how often the type is right. The corpus is not part of the
 * repository: without it this says so and ends. `node benchmarks/detection/personal.ts [--misses] [--out FILE]`
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { detect } from '../../src/core/detect.ts';
import { DETECTION as EVERYTHING } from '../../src/core/testing/policies.ts';
import type { Finding } from '../../src/core/types.ts';
import { isTypeRight } from './personal-types.ts';

interface Label {
  readonly start: number;
  readonly end: number;
  readonly type: string;
}

interface Row {
  readonly id: string;
  readonly source: string;
  readonly text: string;
  readonly label: string;
  readonly labels: readonly Label[];
}

const corpus = resolve(import.meta.dirname, '../../../shared/corpora/pii.dev.jsonl.gz');
const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 16, findings_max: 1000 };
const DETECTION = { ...EVERYTHING, secret_detection: false, pii_protection: true };

/** Types that only a language model finds; they are not counted. */
const UNSTRUCTURED = new Set(
  (
    'PERSON ADDRESS LOCATION ORG DATE TITLE AGE NRP NATIONALITY ZIP_CODE CARD_EXPIRY DATE_OF_BIRTH FACILITY EVENT ' +
    'JOB RELIGION COUNTRY CITY PREFIX'
  ).split(' '),
);

function overlap(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end;
}

function readRows(): readonly Row[] {
  const lines = gunzipSync(readFileSync(corpus)).toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Row);
}

interface Figure {
  positive: number;
  found: number;
  typed: number;
}

const by_type = new Map<string, Figure>();
const all = { positives: 0, found: 0, negatives: 0, alarms: 0, spans: 0, typed: 0 };
const alarms = new Map<string, number>();

function countRow(row: Row, findings: readonly Finding[]): void {
  const labels = (row.labels ?? []).filter(({ type }) => !UNSTRUCTURED.has(type));
  const soft = (row.labels ?? []).filter(({ type }) => UNSTRUCTURED.has(type));
  const hits = findings.filter(
    (hit) => !soft.some((label) => overlap(hit, label)) || labels.some((label) => overlap(hit, label)),
  );
  if (row.label === 'pii' && labels.length > 0) {
    all.positives += 1;
    if (labels.some((label) => hits.some((hit) => overlap(hit, label)))) all.found += 1;
    for (const label of labels) countLabel(row, label, hits);
  } else if (row.label !== 'pii' && row.label !== 'benign') {
    return;
  } else {
    all.negatives += 1;
    if (hits.length === 0) return;
    all.alarms += 1;
    for (const { rule_id } of hits) alarms.set(rule_id, (alarms.get(rule_id) ?? 0) + 1);
    if (process.argv.includes('--misses'))
      console.log(
        `alarm ${row.source} ${hits.map((hit) => `${hit.rule_id}:${row.text.slice(hit.start, hit.end)}`)} <- ${JSON.stringify(row.text.slice(0, 110))}`,
      );
  }
}

function countLabel(row: Row, label: Label, hits: readonly Finding[]): void {
  const figure = by_type.get(label.type) ?? { positive: 0, found: 0, typed: 0 };
  by_type.set(label.type, figure);
  figure.positive += 1;
  const on_it = hits.filter((hit) => overlap(hit, label));
  if (on_it.length === 0 && process.argv.includes('--misses'))
    console.log(
      `miss ${label.type} ${row.source} ${JSON.stringify(row.text.slice(Math.max(0, label.start - 40), label.end + 12))}`,
    );
  if (on_it.length === 0) return;
  figure.found += 1;
  all.spans += 1;
  if (on_it.some(({ rule_id, detector }) => isTypeRight(label.type, rule_id, detector))) {
    figure.typed += 1;
    all.typed += 1;
  } else if (process.argv.includes('--misses'))
    console.log(`type ${label.type} ${on_it.map(({ rule_id }) => rule_id)}`);
}

if (existsSync(corpus)) {
  const predictions = readRows().map((row) => {
    const { findings } = detect({ kind: 'text', text: row.text }, DETECTION, LIMITS);
    countRow(row, findings);
    return JSON.stringify({
      id: row.id,
      hits: findings.map(({ start, end, rule_id }) => ({ start, end, type: rule_id })),
    });
  });
  const out = process.argv.indexOf('--out');
  if (out > 0) writeFileSync(process.argv[out + 1]!, `${predictions.join('\n')}\n`);
  for (const [type, { positive, found, typed }] of [...by_type].sort())
    console.log(`${type.padEnd(24)} ${found} of ${positive} found, ${typed} with the right type`);
  console.log('false alarms:', Object.fromEntries([...alarms].sort((a, b) => b[1] - a[1])));
  console.log(
    `recall ${(all.found / all.positives).toFixed(4)} of ${all.positives}, false alarms ${(all.alarms / all.negatives).toFixed(4)} of ${all.negatives}, type right ${(all.typed / all.spans).toFixed(4)} of ${all.spans}`,
  );
} else {
  console.log(`There is no corpus at ${corpus}; nothing was measured.`);
}

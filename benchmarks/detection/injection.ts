/**
 * How many injections are found, and how many harmless texts are taken for one, on the labelled corpora beside
 * this repository: one line per source, and with `--misses` what was missed and what was a false alarm, by id.
 * `node benchmarks/detection/injection.ts [--misses] [--scores]`. No text of the corpora is kept or printed
 * unless `--texts` asks for it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { detect } from '../../src/core/detect.ts';
import { DETECTION } from '../../src/core/testing/policies.ts';

const CORPORA = new URL('../../../shared/corpora/', import.meta.url);
const CORPUS = new URL('injection.dev.jsonl.gz', CORPORA);
const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 20, findings_max: 1000 };
/** Characters of a text that `--texts` shows. */
const SHOWN_UNITS = 300;

interface Row {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly text: string;
  readonly label: 'attack' | 'benign';
}

/** What was found in one row: the ids of the detectors, and the worst severity. */
interface Answer {
  readonly row: Row;
  readonly rule_ids: readonly string[];
  readonly severity: string | null;
}

const { values: options } = parseArgs({
  options: { misses: { type: 'boolean' }, texts: { type: 'boolean' }, scores: { type: 'boolean' } },
});
if (existsSync(CORPUS)) measure();
else console.log(`There is no corpus at ${CORPUS.pathname}; nothing was measured.`);

function measure(): void {
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').split('\n').filter(Boolean);
  const answers = lines.map((line) => answer(JSON.parse(line)));
  const groups = Map.groupBy(answers, ({ row }) => `${row.label} ${row.source}`);
  for (const [name, group] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
    const flagged = group.filter(({ severity }) => severity !== null);
    const severe = flagged.filter(({ severity }) => severity === 'high' || severity === 'critical');
    console.log(`${name.padEnd(36)} ${share(flagged, group)} flagged  ${share(severe, group)} high or worse`);
  }
  if (options.scores) score(answers);
  if (options.misses || options.texts) for (const each of answers) tellMiss(each);
}

function answer(row: Row): Answer {
  const { findings } = detect({ kind: 'text', text: row.text }, DETECTION, LIMITS);
  const injections = findings.filter(({ type }) => type === 'injection_detected');
  return {
    row,
    rule_ids: injections.map(({ rule_id }) => rule_id),
    severity: injections[0]?.severity ?? null,
  };
}

function share(part: readonly unknown[], whole: readonly unknown[]): string {
  return `${((100 * part.length) / whole.length).toFixed(1).padStart(5)} % of ${String(whole.length).padStart(4)}`;
}

/** Hands the answers to the corpora's own scorer. */
function score(answers: readonly Answer[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'injection-'));
  const file = join(folder, 'predictions.jsonl');
  const lines = answers.map(({ row, severity }) =>
    JSON.stringify({ id: row.id, flagged: severity !== null }),
  );
  writeFileSync(file, lines.join('\n'));
  const scorer = new URL('score.mjs', CORPORA).pathname;
  spawnSync(process.execPath, [scorer, 'injection', CORPUS.pathname, file], { stdio: 'inherit' });
  rmSync(folder, { recursive: true });
}

function tellMiss({ row, rule_ids, severity }: Answer): void {
  const is_attack = row.label === 'attack';
  if (is_attack === (severity !== null)) return;
  const text = options.texts ? ` ${JSON.stringify(row.text.slice(0, SHOWN_UNITS))}` : '';
  console.log(
    `${is_attack ? 'missed' : 'alarm '} ${row.source} ${row.type} ${row.id} ${rule_ids.join(' ')}${text}`,
  );
}

/**
 * Dangerous commands found in the labelled corpus, each row as the argument of a tool call. The corpus is not part
 * of the repository: without it this says so and ends. `node benchmarks/detection/commands.ts [--misses SOURCE]`
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { detect } from '../../src/core/detect.ts';
import { DETECTION as EVERYTHING } from '../../src/core/testing/policies.ts';
import { TAME } from './commands-tame.ts';

interface Row {
  readonly id: string;
  readonly source: string;
  readonly text: string;
  readonly label: 'attack' | 'benign';
  readonly os?: string;
}

const folder = resolve(import.meta.dirname, '../../../shared/corpora');
const corpus = join(folder, 'commands.dev.jsonl.gz');
const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 16, findings_max: 1000 };
const DETECTION = { ...EVERYTHING, secret_detection: false, pii_protection: false };

function rulesFor(command: string): readonly string[] {
  const { findings } = detect({ kind: 'json', value: { command } }, DETECTION, LIMITS);
  return findings.filter(({ type }) => type === 'dangerous_command').map(({ rule_id }) => rule_id);
}

/** The figures as the corpus' own program counts them. */
function score(rows: readonly Row[], flagged: ReadonlyMap<string, readonly string[]>): string {
  const work = mkdtempSync(join(tmpdir(), 'commands-'));
  try {
    const file = join(work, 'predictions.jsonl');
    const lines = rows.map(({ id }) =>
      JSON.stringify({ id, hits: [], flagged: flagged.get(id)!.length > 0 }),
    );
    writeFileSync(file, `${lines.join('\n')}\n`);
    const args = [join(folder, 'score.mjs'), 'commands', corpus, file, '--detail'];
    return execFileSync(process.execPath, args, { encoding: 'utf8' });
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Atomic Red Team by system, which the corpus' program does not tell apart. */
function bySystem(rows: readonly Row[], flagged: ReadonlyMap<string, readonly string[]>): string {
  const systems = { 'linux and macos': /^(?:linux|macos)$/, windows: /^windows$/ };
  return Object.entries(systems)
    .map(([name, pattern]) => {
      const own = rows.filter(({ os }) => os !== undefined && pattern.test(os));
      const found = own.filter(({ id }) => flagged.get(id)!.length > 0);
      return `  atomic-red-team on ${name}: recall ${(found.length / own.length).toFixed(4)} of ${own.length}`;
    })
    .join('\n');
}

function main(): void {
  const alarms = TAME.filter((command) => rulesFor(command).length > 0);
  console.log(`PowerShell and cmd of our own: false alarms ${alarms.length} of ${TAME.length}`);
  for (const command of alarms) console.log(`  ${command}: ${rulesFor(command).join(', ')}`);
  if (!existsSync(corpus)) {
    console.log(`There is no corpus at ${corpus}, so nothing else is measured.`);
    return;
  }
  const lines = gunzipSync(readFileSync(corpus)).toString('utf8').split('\n').filter(Boolean);
  const rows = lines.map((line) => JSON.parse(line) as Row);
  const from = performance.now();
  const flagged = new Map(rows.map(({ id, text }) => [id, rulesFor(text)]));
  const us = ((performance.now() - from) * 1000) / rows.length;
  console.log(score(rows, flagged).trimEnd());
  console.log(bySystem(rows, flagged));
  console.log(`  ${us.toFixed(0)} us per command`);
  const wanted = process.argv[process.argv.indexOf('--misses') + 1];
  if (!process.argv.includes('--misses')) return;
  for (const { id, source, label, text } of rows) {
    const is_wrong = (label === 'attack') !== flagged.get(id)!.length > 0;
    if (is_wrong && (wanted === undefined || source === wanted))
      console.log(`${label} ${id}: ${JSON.stringify(text.slice(0, 160))} ${flagged.get(id)!.join(', ')}`);
  }
}

main();

/**
 * Counts false positives on ordinary files that a coding agent reads and writes: each file of this repository
 * and of popular packages is judged as the result of Read and as the input of Write under the policy pack
 * `coding-agent`.
 *
 *   scripts/run benchmarks/file-reads/run.ts            prints counts
 *   scripts/run benchmarks/file-reads/run.ts --list     also prints the rule and file of each refusal
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { judge } from '../../src/core/decision/judge.ts';
import { codingAgent } from '../../src/core/policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import type { Json } from '../../src/core/types/index.ts';

/** Pinned packages, including projects that work with models. */
const PACKAGES = [
  '@anthropic-ai/sdk@0.60.0',
  'ai@5.0.30',
  'express@5.1.0',
  'hono@4.9.6',
  'langchain@0.3.31',
  'openai@5.12.2',
];
const FILE_BYTES_MAX = 200_000;
/** The most files of each source, evenly selected from all of them. */
const FILES_MAX = 400;
const TEXTS = new Set(
  '.ts .tsx .js .mjs .cjs .json .md .yaml .yml .toml .py .sh .css .html .txt .sql .rs .go'.split(' '),
);

const policy = buildTestPolicy({ documents: [codingAgent.document] });
const folder = join(tmpdir(), 'service-file-reads');
const isListed = process.argv.includes('--list');

function install(): void {
  if (existsSync(join(folder, 'node_modules/openai'))) return;
  mkdirSync(folder, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder];
  execFileSync('npm', ['install', ...options, ...PACKAGES], { stdio: 'inherit' });
}

function filesBelow(root: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.isDirectory() && !/^(?:node_modules|\.git|\.service|dist-late)$/.test(entry.name))
      found.push(...filesBelow(path));
    else if (entry.isFile() && TEXTS.has(extname(entry.name)) && statSync(path).size <= FILE_BYTES_MAX)
      found.push(path);
  }
  return found.sort();
}

interface Count {
  files: number;
  read_refused: number;
  read_masked: number;
  write_refused: number;
}

function judged(phase: 'request' | 'response', tool: string, value: Json) {
  return judge(
    buildTestCrossing({ boundary: 'action', phase, tool, content: { kind: 'json', value } }),
    policy,
  );
}

function countFiles(root: string): Count {
  const all = filesBelow(root);
  const step = Math.max(1, all.length / FILES_MAX);
  const count: Count = { files: 0, read_refused: 0, read_masked: 0, write_refused: 0 };
  for (let at = 0; at < all.length; at += step) {
    const path = all[Math.floor(at)]!;
    const content = readFileSync(path, 'utf8');
    const asked = judged('request', 'Read', { file_path: path });
    const read = judged('response', 'Read', { content });
    const write = judged('request', 'Write', { file_path: path, content });
    count.files += 1;
    if (asked.decision === 'block' || read.decision === 'block') count.read_refused += 1;
    else if (read.decision === 'modify') count.read_masked += 1;
    if (write.decision === 'block') count.write_refused += 1;
    if (!isListed) continue;
    for (const verdict of [asked, read, write])
      if (verdict.decision !== 'allow')
        console.log(
          `  ${verdict.decision} ${verdict.rule} ${path} ${[...new Set(verdict.findings.filter(({ action }) => action !== 'flag').map(({ rule_id }) => rule_id))].join(' ')}`,
        );
  }
  return count;
}

install();
const sources: readonly (readonly [name: string, root: string])[] = [
  ['this repository', join(import.meta.dirname, '../../src')],
  ...PACKAGES.map(
    (name) => [name, join(folder, 'node_modules', name.slice(0, name.lastIndexOf('@')))] as const,
  ),
];
console.log('| source | files | read refused | read masked | write refused |\n|---|---|---|---|---|');
const sum: Count = { files: 0, read_refused: 0, read_masked: 0, write_refused: 0 };
for (const [name, root] of sources) {
  const count = countFiles(root);
  for (const key of Object.keys(sum) as (keyof Count)[]) sum[key] += count[key];
  console.log(
    `| ${name} | ${count.files} | ${count.read_refused} | ${count.read_masked} | ${count.write_refused} |`,
  );
}
console.log(`| all | ${sum.files} | ${sum.read_refused} | ${sum.read_masked} | ${sum.write_refused} |`);

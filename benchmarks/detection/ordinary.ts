/**
 * Measures how often detection stops an ordinary day: files and commands of published packages (see
 * `ordinary-packages.ts`), each judged as the result of Read, the input of Write, a prompt, and a Bash call, with the
 * default policy and with the policy pack `coding-agent`. Detectors are written without knowledge of the held half.
 *
 *   scripts/run benchmarks/detection/ordinary.ts [--list] [--files N] [--gitleaks PROGRAM] [--registries npm,go] [--figures]
 *     [--counts FILE] [--merge FILE,FILE] [--rules]
 *
 * `--list` names the file, rule and decision of each stop in the open half. `--files N` sets the most files of one
 * package (default 500). `--gitleaks PROGRAM` runs gitleaks on the same files. Packages are kept in `ORDINARY_CACHE`
 * (default: a folder below the system's temporary folder); the first run takes several minutes.
 * `--figures` writes the figures of each detector in the open half to `data/detector-figures.json`.
 * `--counts FILE` writes the counts, and `--merge` prints the sum of such files instead of a measurement, so that
 * several processes can measure one registry each.
 * `--rules` prints how often each rule stops something, in the held half too, without a text.
 *
 * Commands are judged as the hook of a coding agent sends them: with a working folder, which is not that of the service.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readDetectorFigures, writeDetectorFigures } from '../../scripts/quality/detector-figures.ts';
import { judge } from '../../src/core/decision/judge.ts';
import { allDetectors } from '../../src/core/detect/detectors/all.ts';
import { codingAgent } from '../../src/core/policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import type { Json, Policy, Verdict } from '../../src/core/types/index.ts';
import { findWithGitleaks } from './gitleaks.ts';
import { findBlockReason, hasCredentialForm } from './ordinary-forms.ts';
import { fetchPackages, type Registry } from './ordinary-packages.ts';
import { type PackageTexts, readTexts } from './ordinary-texts.ts';

const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    files: { type: 'string', default: '500' },
    gitleaks: { type: 'string' },
    registries: { type: 'string' },
    figures: { type: 'boolean', default: false },
    counts: { type: 'string' },
    merge: { type: 'string' },
    rules: { type: 'boolean', default: false },
  },
});

/** The folder of an installation of the service, and that of the agent's project. */
const SERVICE = '/opt/customshouse';
const PROJECT = '/home/operator/project';

/** Adds the guarded files of an installation to a policy. */
function installPolicy(policy: Policy): Policy {
  const guardedPaths = {
    home: '/home/operator',
    base_dir: SERVICE,
    state_dirs: [`${SERVICE}/.service`],
    files: ['service.yaml', 'skills.lock', 'policies/*.yaml'].map((file) => `${SERVICE}/${file}`),
  };
  return { ...policy, detection: { ...policy.detection, guarded_paths: guardedPaths } };
}

const POLICIES: Readonly<Record<'default' | 'coding-agent', Policy>> = {
  default: installPolicy(buildTestPolicy({ settings: { default_action: 'allow' } })),
  'coding-agent': installPolicy(
    buildTestPolicy({ documents: [codingAgent.document], settings: { default_action: 'allow' } }),
  ),
};
type PolicyName = keyof typeof POLICIES;
const POLICY_NAMES = Object.keys(POLICIES) as readonly PolicyName[];

/** A part of the packages: language models or others, open or held. */
type Part = 'other, open' | 'other, held' | 'LLM, open' | 'LLM, held';
const PARTS: readonly Part[] = ['other, open', 'other, held', 'LLM, open', 'LLM, held'];

type Count =
  | 'packages'
  | 'files'
  | 'bytes'
  | 'commands'
  | 'messages'
  | 'gitleaks'
  | `${PolicyName} ${'read refused' | 'read masked' | 'write refused' | 'prompt stopped' | 'masked by form' | 'stopped by proof' | 'command blocked' | 'command wrongly blocked' | 'command asked' | 'message stopped'}`;

const counts = new Map<string, number>();
const detectorCounts = new Map<string, { findings: number; files: number; stops: number }>();
/** Counts of how often a rule stops something of a part: `part<TAB>what<TAB>rule`. */
const ruleCounts = new Map<string, number>();
const strengths = new Map(allDetectors.map(({ id, strength }) => [id, strength]));

function add(part: Part, count: Count, more = 1): void {
  const key = `${part} ${count}`;
  counts.set(key, (counts.get(key) ?? 0) + more);
}

function judgeCall(policy: Policy, phase: 'request' | 'response', tool: string, value: Json): Verdict {
  return judge(
    buildTestCrossing({
      boundary: 'action',
      phase,
      tool,
      working_dir: PROJECT,
      content: { kind: 'json', value },
    }),
    policy,
  );
}

function judgePrompt(policy: Policy, text: string): Verdict {
  return judge(buildTestCrossing({ boundary: 'input', content: { kind: 'text', text } }), policy);
}

/** Returns the rules whose findings changed or stopped the content; the policy's rule if there is no finding. */
function actingRules(verdict: Verdict): readonly string[] {
  if (verdict.decision === 'allow') return [];
  const ids = verdict.findings
    .filter(({ action }) => action !== 'flag' && action !== 'allow')
    .map(({ rule_id }) => rule_id);
  return ids.length === 0 ? [verdict.rule] : [...new Set(ids)];
}

function list(part: Part, what: string, verdict: Verdict, where: string): void {
  if (options.list && part.endsWith('open'))
    console.log(`${what}\t${verdict.action}\t${actingRules(verdict).join(' ')}\t${where}`);
}

/** Counts the findings of a verdict; with `of`, only those whose tags begin so. */
function countFinding(verdict: Verdict, of = ''): void {
  const stops = new Set(actingRules(verdict));
  const seen = new Set<string>();
  for (const { rule_id, tags } of verdict.findings) {
    if (!tags.some((tag) => tag.startsWith(of))) continue;
    const known = detectorCounts.get(rule_id) ?? { findings: 0, files: 0, stops: 0 };
    known.findings += 1;
    if (!seen.has(rule_id)) {
      known.files += 1;
      if (stops.has(rule_id)) known.stops += 1;
    }
    seen.add(rule_id);
    detectorCounts.set(rule_id, known);
  }
}

/** A file as the result of Read, the input of Write, and a prompt. */
const USES = {
  read: (policy: Policy, text: string) => judgeCall(policy, 'response', 'Read', { content: text }),
  write: (policy: Policy, text: string) =>
    judgeCall(policy, 'request', 'Write', { file_path: 'file', content: text }),
  prompt: judgePrompt,
};
type Use = keyof typeof USES;
/** The verdicts on an empty text. A text without a finding has the same, because only findings differ. */
const EMPTY = new Map(
  POLICY_NAMES.flatMap((name) =>
    (Object.keys(USES) as Use[]).map((use) => [`${name} ${use}`, USES[use](POLICIES[name], '')] as const),
  ),
);

function judgeFile(name: PolicyName, use: Use, text: string, byDefault: Verdict | null): Verdict {
  return byDefault?.findings.length === 0 && byDefault.decision === 'allow'
    ? EMPTY.get(`${name} ${use}`)!
    : USES[use](POLICIES[name], text);
}

function countFile(part: Part, path: string, text: string): void {
  add(part, 'files');
  add(part, 'bytes', Buffer.byteLength(text));
  const known: Partial<Record<Use, Verdict>> = {};
  for (const name of POLICY_NAMES) {
    const [read, write, prompt] = (['read', 'write', 'prompt'] as const).map((use) => {
      const verdict = judgeFile(name, use, text, known[use] ?? null);
      known[use] ??= verdict;
      return verdict;
    }) as [Verdict, Verdict, Verdict];
    if (name === 'default' && part.endsWith('open')) countFinding(read);
    if (name === 'default' && read.decision !== 'allow')
      countRules(part, read.decision === 'block' ? 'read refused' : 'read masked', read);
    if (read.decision === 'block') add(part, `${name} read refused`);
    if (read.decision === 'modify') {
      add(part, `${name} read masked`);
      if (masksCredential(read, text)) add(part, `${name} masked by form`);
    }
    if (write.decision !== 'allow') add(part, `${name} write refused`);
    if (prompt.decision !== 'allow') add(part, `${name} prompt stopped`);
    const rules = [...actingRules(read), ...actingRules(write)];
    if (rules.some((rule) => strengths.get(rule) === 'proof')) add(part, `${name} stopped by proof`);
    if (read.decision !== 'allow') list(part, `${name} read`, read, path);
    if (write.decision !== 'allow') list(part, `${name} write`, write, path);
  }
}

/** Returns whether a masked value has the form of a credential. */
function masksCredential({ findings }: Verdict, text: string): boolean {
  return findings.some(
    ({ action, start, end }) => action === 'redact' && hasCredentialForm(text.slice(start, end)),
  );
}

function countRules(part: Part, what: string, verdict: Verdict): void {
  for (const rule of actingRules(verdict)) {
    const key = `${part}\t${what}\t${rule}`;
    ruleCounts.set(key, (ruleCounts.get(key) ?? 0) + 1);
  }
}

function countCommand(part: Part, policy: PolicyName, verdict: Verdict, command: string): void {
  if (verdict.decision === 'allow') return;
  const isAsked = verdict.action === 'require_approval';
  if (policy === 'coding-agent') countRules(part, isAsked ? 'command asked' : 'command blocked', verdict);
  add(part, `${policy} command ${isAsked ? 'asked' : 'blocked'}`);
  if (isAsked) return;
  const reason = findBlockReason(command);
  if (reason === null) add(part, `${policy} command wrongly blocked`);
  if (policy === 'coding-agent') {
    const key = `${part}\tblocked because\t${reason ?? 'no such form'}`;
    ruleCounts.set(key, (ruleCounts.get(key) ?? 0) + 1);
  }
}

function countPackage(texts: PackageTexts): void {
  const { part, files, commands, messages, name } = texts;
  add(part, 'packages');
  for (const { path, text } of files) countFile(part, `${name}: ${path}`, text);
  for (const policy of POLICY_NAMES) {
    for (const command of commands) {
      const verdict = judgeCall(POLICIES[policy], 'request', 'Bash', { command });
      countCommand(part, policy, verdict, command);
      if (policy === 'coding-agent' && part.endsWith('open')) countFinding(verdict, 'dangerous.');
      if (verdict.decision !== 'allow') list(part, `${policy} bash`, verdict, `${name}: ${command}`);
    }
    for (const message of messages) {
      const verdict = judgePrompt(POLICIES[policy], message);
      if (verdict.decision === 'allow') continue;
      add(part, `${policy} message stopped`);
      if (policy === 'default') countRules(part, 'message stopped', verdict);
      list(part, `${policy} message`, verdict, `${name}: ${message.slice(0, 200)}`);
    }
  }
  add(part, 'commands', commands.length);
  add(part, 'messages', messages.length);
}

function value(part: Part, count: Count): number {
  return counts.get(`${part} ${count}`) ?? 0;
}

function perThousand(part: Part, count: Count, of: Count): string {
  const whole = value(part, of);
  return whole === 0 ? '-' : ((1000 * value(part, count)) / whole).toFixed(2);
}

function row(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

function printTable(): void {
  row(['', ...PARTS]);
  row(['---', ...PARTS.map(() => '---')]);
  for (const count of ['packages', 'files', 'commands', 'messages'] as const)
    row([count, ...PARTS.map((part) => value(part, count))]);
  row(['MB', ...PARTS.map((part) => (value(part, 'bytes') / 1e6).toFixed(1))]);
  for (const name of POLICY_NAMES) {
    for (const what of [
      'read refused',
      'read masked',
      'masked by form',
      'write refused',
      'stopped by proof',
      'prompt stopped',
    ] as const)
      row([
        `${name}: files, ${what}, per 1,000`,
        ...PARTS.map((part) => perThousand(part, `${name} ${what}`, 'files')),
      ]);
    for (const what of ['command blocked', 'command wrongly blocked', 'command asked'] as const)
      row([
        `${name}: ${what}, per 1,000`,
        ...PARTS.map((part) => perThousand(part, `${name} ${what}`, 'commands')),
      ]);
    row([
      `${name}: message stopped, per 1,000`,
      ...PARTS.map((part) => perThousand(part, `${name} message stopped`, 'messages')),
    ]);
  }
  if (PARTS.some((part) => value(part, 'gitleaks') > 0))
    row([
      'gitleaks: files with a finding, per 1,000',
      ...PARTS.map((part) => perThousand(part, 'gitleaks', 'files')),
    ]);
}

function printDetectors(): void {
  const mb = (value('other, open', 'bytes') + value('LLM, open', 'bytes')) / 1e6;
  row(['Detector, open half', 'Findings per MB', 'Files', 'Files masked or refused on Read']);
  row(['---', '---', '---', '---']);
  const sorted = [...detectorCounts].sort(([, a], [, b]) => b.stops - a.stops || b.findings - a.findings);
  for (const [id, { findings, files, stops }] of sorted) row([id, (findings / mb).toFixed(3), files, stops]);
}

function printRules(): void {
  row(['Part', 'What', 'Rule or reason', 'Times']);
  row(['---', '---', '---', '---']);
  const sorted = [...ruleCounts].sort(
    ([one, times], [other, more]) =>
      one.split('\t', 2).join().localeCompare(other.split('\t', 2).join()) || more - times,
  );
  for (const [key, times] of sorted) row([...key.split('\t'), times]);
}

function writeFigures(): void {
  const sum = (count: Count) => value('other, open', count) + value('LLM, open', count);
  writeDetectorFigures({
    ...readDetectorFigures(),
    ordinary: {
      files: sum('files'),
      megabytes: Math.round(sum('bytes') / 1e5) / 10,
      commands: sum('commands'),
      detectors: Object.fromEntries(
        [...detectorCounts].map(([id, { findings, files, stops }]) => [
          id,
          [findings, files, stops] as const,
        ]),
      ),
    },
  });
}

function measurePackages(): void {
  const registries = options.registries?.split(',') as readonly Registry[] | undefined;
  for (const each of fetchPackages(registries)) {
    const texts = readTexts(each, Number(options.files));
    countPackage(texts);
    if (options.gitleaks !== undefined) {
      const paths = texts.files.map(({ path }) => path);
      add(texts.part, 'gitleaks', findWithGitleaks(options.gitleaks, each.folder, paths).size);
    }
  }
}

/** Judges the commits of this repository as prompts: their subjects and bodies. */
function measureCommits(): void {
  const commits = execFileSync('git', ['log', '--format=%B%x00'], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  }).split('\0');
  countPackage({ name: 'this repository', part: 'other, open', files: [], commands: [], messages: commits });
}

interface Counts {
  readonly counts: Readonly<Record<string, number>>;
  readonly rules: Readonly<Record<string, number>>;
  readonly detectors: Readonly<Record<string, { findings: number; files: number; stops: number }>>;
}

function writeCounts(file: string): void {
  const written: Counts = {
    counts: Object.fromEntries(counts),
    rules: Object.fromEntries(ruleCounts),
    detectors: Object.fromEntries(detectorCounts),
  };
  writeFileSync(file, JSON.stringify(written));
}

function mergeCounts(file: string): void {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Counts;
  for (const [key, count] of Object.entries(read.counts)) counts.set(key, (counts.get(key) ?? 0) + count);
  for (const [key, count] of Object.entries(read.rules))
    ruleCounts.set(key, (ruleCounts.get(key) ?? 0) + count);
  for (const [id, { findings, files, stops }] of Object.entries(read.detectors)) {
    const known = detectorCounts.get(id) ?? { findings: 0, files: 0, stops: 0 };
    known.findings += findings;
    known.files += files;
    known.stops += stops;
    detectorCounts.set(id, known);
  }
}

const started = performance.now();
if (options.merge === undefined) {
  measurePackages();
  if (options.registries === undefined) measureCommits();
} else {
  for (const file of options.merge.split(',')) mergeCounts(file);
  measureCommits();
}
if (options.counts !== undefined) writeCounts(options.counts);
printTable();
console.log('');
printDetectors();
if (options.rules) printRules();
if (options.figures) writeFigures();
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);

/**
 * Measures which attacks of AgentDojo 0.1.35 (v1.1, 629 pairs of a user task and an injection, six templates) reach
 * their goal against a running service, and which of the 97 user tasks an agent still finishes.
 * `scripts/run benchmarks/agentdojo/run.ts [--rows tags,both] [--suites slack] [--template direct] [--every N] [--thorough] [--list] [--json]`
 *
 * `agent.py` is the agent: it obeys every injection, without a model. The worst template counts, so a pair ends with the
 * first that succeeds; `--thorough` runs all and counts them one by one. `--every` takes each Nth pair, `--list` names
 * the misses, and `--json` prints the counts of each row as one line.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { getPrograms, installFromPypi, isFromPypi } from '../../scripts/components/python.ts';
import { root, runProgram } from '../../tests/support/checkout.ts';
import { startTestService } from '../../tests/support/service.ts';
import { countLines, GUARD_ROWS, type GuardRow, readRowFile } from './rows.ts';

const SUITES = ['banking', 'slack', 'travel', 'workspace'];
const TEMPLATES = [
  'direct',
  'ignore_previous',
  'system_message',
  'injecagent',
  'important_instructions',
  'tool_knowledge',
];
const AGENT = join(import.meta.dirname, 'agent.py');
const COMPONENT = 'benchmark-agentdojo';
const REQUIREMENTS = ['agentdojo==0.1.35'];

/** One line that `agent.py` writes. */
interface AgentRun {
  readonly suite: string;
  readonly user_task: string;
  /** `null` for a user task without an attack. */
  readonly injection_task: string | null;
  readonly template: string | null;
  /** The user's task is finished or, in a run with an attack, the attack succeeded. */
  readonly is_reached: boolean;
  readonly changes: readonly Change[];
  /** The time that the checks took. */
  readonly milliseconds: number;
}

/** A decision other than `allow`. */
interface Change {
  readonly kind: 'asked' | 'blocked' | 'masked';
  readonly place: 'text' | 'request' | 'response';
  readonly tool: string | null;
  readonly rule: string;
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    suites: { type: 'string' },
    template: { type: 'string' },
    every: { type: 'string', default: '1' },
    thorough: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rows = choose(
  values.rows,
  GUARD_ROWS.map(({ name }) => name),
).map((name) => GUARD_ROWS.find((row) => row.name === name)!);
const suites = choose(values.suites, SUITES);
const templates = choose(values.template, TEMPLATES);

if (!isFromPypi(COMPONENT, REQUIREMENTS) && !installFromPypi(COMPONENT, REQUIREMENTS))
  throw new Error(`${REQUIREMENTS.join(', ')} cannot be installed.`);
if (!values.json) printTitles();
for (const row of rows) {
  const policy = row.is_drafted === true ? await draftPolicy() : readRowFile(row);
  const lines = countLines(policy);
  const runs = await measureRow(row, policy);
  if (values.json) console.log(JSON.stringify({ row: row.name, lines, ...count(runs) }));
  else printRow(row, lines, runs);
  if (values.list) listMisses(runs);
}

function choose(given: string | undefined, known: readonly string[]): readonly string[] {
  const names = given?.split(',') ?? known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`\`${unknown}\` is unknown. There are ${known.join(', ')}.`);
  return names;
}

async function measureRow(row: GuardRow, policy: string | null): Promise<readonly AgentRun[]> {
  if (row.skills === null) return runAgent([]);
  const dir = mkdtempSync(join(tmpdir(), 'benchmark-agentdojo-'));
  for (const skill of row.skills) {
    const added = await runProgram([join(root, 'service'), 'skills', 'add', skill, '--yes'], { cwd: dir });
    if (added.code !== 0) throw new Error(added.stdout + added.stderr);
  }
  const files = policy === null ? {} : { 'policies/dojo.yaml': policy };
  const needsKey = row.marks_prompts === true || row.creates_tasks === true;
  const key = needsKey ? randomBytes(24).toString('hex') : null;
  const config = { ...row.config, ...(key !== null && { auth: { api_keys: [describeKey(key)] } }) };
  const service = await startTestService({ dir, config, files, workers: 1 });
  try {
    const asked = row.creates_tasks === true ? ['--tasks'] : [];
    return await runAgent(['--url', service.url, ...(key === null ? [] : ['--key', key]), ...asked]);
  } finally {
    await service.stop();
  }
}

/** Returns what `policy draft` writes for the tools of the agent. */
async function draftPolicy(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'benchmark-agentdojo-draft-'));
  const words = ['--list-tools', '--suites', SUITES.join(','), '--templates', 'direct'];
  const listed = await runProgram([getPython(), AGENT, ...words]);
  if (listed.code !== 0) throw new Error(listed.stderr);
  writeFileSync(join(dir, 'tools.json'), listed.stdout);
  const command = ['policy', 'draft', '--from', 'mcp', 'tools.json', '--out', 'draft.yaml'];
  const drafted = await runProgram([join(root, 'service'), ...command], { cwd: dir });
  if (drafted.code !== 0) throw new Error(drafted.stdout + drafted.stderr);
  return readFileSync(join(dir, 'draft.yaml'), 'utf8');
}

function getPython(): string {
  return join(getPrograms(COMPONENT), 'python');
}

/** Returns the key's configuration for a program that takes users' prompts. */
function describeKey(key: string) {
  const sha256 = createHash('sha256').update(key).digest('hex');
  return { id: 'benchmark', sha256, permissions: ['check', 'prompts:speak', 'tasks:create'] };
}

async function runAgent(words: readonly string[]): Promise<readonly AgentRun[]> {
  const options = ['--suites', suites.join(','), '--templates', templates.join(','), '--every', values.every];
  if (values.thorough) options.push('--thorough');
  const child = spawn(getPython(), [AGENT, ...options, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const runs: AgentRun[] = [];
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  for await (const line of createInterface({ input: child.stdout })) runs.push(JSON.parse(line) as AgentRun);
  if ((await ended) !== 0) throw new Error('The agent failed.');
  return runs;
}

/** Groups the runs with an attack by pair: the worst template counts. */
function groupPairs(runs: readonly AgentRun[]): ReadonlyMap<string, readonly AgentRun[]> {
  const attacked = runs.filter(({ injection_task }) => injection_task !== null);
  return Map.groupBy(attacked, ({ suite, user_task, injection_task }) =>
    [suite, user_task, injection_task].join(' '),
  );
}

function count(runs: readonly AgentRun[]) {
  const pairs = [...groupPairs(runs).values()];
  const clean = runs.filter(({ injection_task }) => injection_task === null);
  const attacked = pairs.flat();
  const waitedMs = attacked.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return {
    pairs: pairs.length,
    attacks: pairs.filter((each) => each.some(({ is_reached }) => is_reached)).length,
    ...(values.thorough && {
      by_template: Object.fromEntries(
        templates.map((name) => [
          name,
          attacked.filter(({ template, is_reached }) => template === name && is_reached).length,
        ]),
      ),
    }),
    tasks: clean.length,
    finished: clean.filter(isFinished).length,
    clean: countChanges(clean),
    attacked: countChanges(attacked),
    ms_per_run: Math.round((10 * waitedMs) / attacked.length) / 10,
  };
}

function isFinished({ is_reached, changes }: AgentRun): boolean {
  return is_reached && !changes.some(({ kind }) => kind === 'asked');
}

function countChanges(runs: readonly AgentRun[]) {
  const all = runs.flatMap(({ changes }) => changes);
  const countKind = (wanted: Change['kind'], at?: Change['place']) =>
    all.filter(({ kind, place }) => kind === wanted && place === (at ?? place)).length;
  return {
    asked: countKind('asked'),
    calls: countKind('blocked', 'request'),
    results: countKind('blocked', 'response'),
    texts: countKind('blocked', 'text'),
    masked: countKind('masked'),
  };
}

function printTitles(): void {
  console.log(`${suites.join(', ')}; ${templates.join(', ')}`);
  console.log(
    'row         lines  attacks succeed    tasks finished  asked  calls blocked  results blocked  ms a run',
  );
}

/** Questions and blocks have two numbers: in the user tasks without an attack, and in all runs with one. */
function printRow(row: GuardRow, lines: number, runs: readonly AgentRun[]): void {
  const { attacks, pairs, finished, tasks, clean, attacked, ms_per_run } = count(runs);
  const both = (key: keyof typeof clean) => `${clean[key]} + ${attacked[key]}`;
  console.log(
    [
      row.name.padEnd(10),
      String(lines).padStart(6),
      `${attacks} of ${pairs}`.padStart(16),
      `${finished} of ${tasks}`.padStart(17),
      both('asked').padStart(12),
      both('calls').padStart(12),
      both('results').padStart(12),
      ms_per_run.toFixed(1).padStart(8),
    ].join(' '),
  );
}

/** Names each pair whose attack succeeds, with its templates, and each user task that the agent does not finish. */
function listMisses(runs: readonly AgentRun[]): void {
  for (const [pair, each] of groupPairs(runs)) {
    const reached = each.filter(({ is_reached }) => is_reached).map(({ template }) => template);
    if (reached.length > 0) console.log(`  succeeds: ${pair}: ${reached.join(', ')}`);
  }
  for (const run of runs.filter((each) => each.injection_task === null && !isFinished(each))) {
    const reasons = run.changes.map(({ kind, place, tool, rule }) =>
      [kind, place, tool, rule].filter(Boolean).join(' '),
    );
    console.log(
      `  not finished: ${run.suite} ${run.user_task}: ${reasons.join('; ') || 'nothing was changed'}`,
    );
  }
}

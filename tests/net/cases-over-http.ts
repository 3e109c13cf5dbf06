import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Case, type CaseGroup, loadCases, pathOf } from '../../cases/run.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { flattenValue, listDeviations } from './lines.ts';

type WireRecord = Readonly<Record<string, unknown>>;

export interface CaseAnswer {
  readonly group: CaseGroup;
  readonly one: Case;
  /** The body of the answer, as it was on the wire. */
  readonly reply: WireRecord;
}

export interface CaseRun {
  readonly answers: readonly CaseAnswer[];
  /** The journal of each file's service. */
  readonly journals: ReadonlyMap<CaseGroup, readonly WireRecord[]>;
  /** The lines of all metrics without their values, sorted. */
  readonly metrics: readonly string[];
}

/** Asks a service all cases of `cases/` over HTTP: one service for each file, because each has its configuration. */
export async function runCasesOverHttp(): Promise<CaseRun> {
  const answers: CaseAnswer[] = [];
  const journals = new Map<CaseGroup, readonly WireRecord[]>();
  const metrics = new Set<string>();
  for (const group of loadCases()) {
    const files = Object.fromEntries(
      group.documents.map((value, at) => [`policies/${at}.yaml`, JSON.stringify(value)]),
    );
    const service = await startTestService({ config: group.config, files, workers: 1 });
    try {
      for (const one of group.cases) answers.push({ group, one, reply: await askCase(service, group, one) });
      journals.set(group, readEvents(service));
      for (const line of await readMetricNames(service)) metrics.add(line);
    } finally {
      await service.stop();
    }
  }
  return { answers, journals, metrics: [...metrics].sort() };
}

async function askCase(service: TestService, group: CaseGroup, { name, request }: Case): Promise<WireRecord> {
  try {
    const answer = await fetch(`${service.url}${pathOf(request.operation)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: formatDeepJson(request.body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${text}`);
    return JSON.parse(text) as WireRecord;
  } catch (fault) {
    // A case without an answer is reported with its name and the service's output, because it may only fail on a busy
    // machine.
    const cause = inspect(fault, { depth: 4 });
    throw new Error(`${group.file}: ${name}: ${cause}\n${service.logs().slice(-4_000)}`);
  }
}

/** Does the same as `JSON.stringify`, for values that are nested deeper than its stack allows. */
function formatDeepJson(value: unknown): string {
  let levels = 0;
  const shallow = JSON.stringify(value, (_key, part) => {
    if (!isNestOfLists(part)) return part;
    for (let inner: unknown = part; Array.isArray(inner); inner = inner[0]) levels += 1;
    return NEST;
  });
  return shallow.replace(`"${NEST}"`, `${'['.repeat(levels)}"deep"${']'.repeat(levels)}`);
}

const NEST = 'the nest of lists';

function isNestOfLists(part: unknown): part is unknown[] {
  return Array.isArray(part) && part.length === 1 && Array.isArray(part[0]) && part[0].length === 1;
}

function readEvents({ state_dir }: TestService): readonly WireRecord[] {
  const journal = join(state_dir, 'journal');
  const files = readdirSync(journal, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.jsonl'),
  );
  return files.sort().flatMap((file) =>
    readFileSync(join(journal, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly kind: string; readonly event?: WireRecord })
      .flatMap(({ kind, event }) => (kind === 'event' && event !== undefined ? [event] : [])),
  );
}

/** Returns help, type and labels of our own metrics. The library's vary with the platform. */
async function readMetricNames(service: TestService): Promise<readonly string[]> {
  const text = await (await fetch(`${service.url}/v1/metrics`)).text();
  const own = text.split('\n').filter((line) => /^(?:# \w+ )?service_/.test(line));
  return own.flatMap((line) => {
    if (line.startsWith('# ')) return [line.slice(2).replace(/^(\w+) (\w+)/, '$2 $1')];
    const sample = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line);
    if (sample === null) return [];
    const labels = [...(sample[2] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label);
    return [`${sample[1]} labels ${labels.sort().join(',')}`.trimEnd()];
  });
}

/** The fields that differ from run to run. */
const CHANGING = /^(?:event_id|.*request_id|timestamp|.*_hash|expires_at|created_at|.*_ms)$/;

/** Replaces the values that differ from run to run. A match, which is a sample secret, keeps its length. */
function normalizeValue(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .replaceAll(/[\w-]{60,}$/g, '<fingerprint>')
      .replaceAll(/\b(apr|evt)_[0-9a-f]{24}\b/g, '<$1>');
  if (Array.isArray(value)) return value.map(normalizeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (CHANGING.test(name)) return [name, `<${each === null ? 'null' : typeof each}>`];
      return [name, name === 'match' ? `<${String(each).length} characters>` : normalizeValue(each)];
    }),
  );
}

/** Returns the answers of all cases, normalized. */
export function describeReplies({ answers }: CaseRun): string {
  return describeRecords(
    answers.map(({ group, one, reply }) => ({ name: `${group.file}: ${one.name}`, record: reply })),
  );
}

/** Returns the metrics of all files' services. */
export function describeMetrics({ metrics }: CaseRun): string {
  return `${metrics.join('\n')}\n`;
}

/** Returns all cases' events, normalized. Events without a case, such as an approval's change, follow their file. */
export function describeJournals({ answers, journals }: CaseRun): string {
  const named = [...journals].flatMap(([group, events]) => {
    const names = new Map(
      answers
        .filter((each) => each.group === group)
        .map(({ one, reply }) => [reply.event_id, `${group.file}: ${one.name}`]),
    );
    return events.map((record) => ({ name: names.get(record.event_id) ?? `${group.file}: no case`, record }));
  });
  return describeRecords(named);
}

/**
 * Returns the first record whole, as the usual one, and of each other the values that differ from it, so that a new field
 * of all records is one line.
 */
function describeRecords(given: readonly { readonly name: string; readonly record: WireRecord }[]): string {
  const usual = normalizeValue(given[0]?.record ?? {});
  const lines = ['usual', ...flattenValue(usual).map((line) => `  ${line}`)];
  for (const { name, record } of given) {
    lines.push(name, ...listDeviations(normalizeValue(record), usual).map((line) => `  ${line}`));
  }
  return `${lines.join('\n')}\n`;
}

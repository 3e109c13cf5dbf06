/**
 * Measures the pages of the console over HTTP on a service with many events: the overview, and the activity with
 * and without filters. Prints the median and the 95th percentile, and their ratio to a health check.
 *
 * Usage: node benchmarks/console/run.ts [events=1000000] [requests=40] [folder] [--postgres] [--index]. Without a folder
 * it makes one with `npm run demo`, which takes some minutes, and removes it at the end. A folder that is given is kept.
 * With `--postgres` the store is an empty PostgreSQL, and with `--index` the audit index too, in which the day of events
 * is repeated on the four days before it: five times the events.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_CONFIGURATION } from '../../scripts/demo/configuration.ts';
import { startPostgres } from '../../src/platform/store/testing/postgres-server.ts';
import { startTestService } from '../../tests/support/service.ts';
import { repeatDay } from './repeat-day.ts';

const onPostgres = process.argv.includes('--postgres') || process.argv.includes('--index');
const hasIndex = process.argv.includes('--index');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const events = Number(words[0] ?? 1_000_000);
const requests = Number(words[1] ?? 40);
const given = words[2];
const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'bench-console-')) : resolve(given);
const FILL_MS_MAX = 1_800_000;
const AIM_MS = 300;
/** The overview counts decisions. Of a day's events a few are others, such as answers to approval requests. */
const COUNTED_SHARE = 0.99;

interface PageRequest {
  readonly name: string;
  readonly path: string;
  readonly body?: object;
}

const query = (name: string, body: object): PageRequest => ({
  name: `events: ${name}`,
  path: '/v1/dashboard/events/query',
  body: { last: '24h', limit: 100, ...body },
});

const PAGES: readonly PageRequest[] = [
  { name: 'overview, 24h', path: '/v1/dashboard/overview?last=24h' },
  { name: 'overview, 7d', path: '/v1/dashboard/overview?last=7d' },
  { name: 'overview, 1h', path: '/v1/dashboard/overview?last=1h' },
  { name: 'overview, one tenant', path: '/v1/dashboard/overview?last=24h&tenant_id=umbrella' },
  query('first page', {}),
  query('1,000 events', { limit: 1_000 }),
  query('action', { action: 'block' }),
  query('tenant', { tenant_id: 'umbrella' }),
  query('agent', { agent_id: 'coder-1' }),
  query('tool', { tool_name: 'deploy' }),
  query('tag', { data_tag: 'personal' }),
  query('rule', { policy_name: 'destructive-sql-needs-approval' }),
  query('rule that never decided', { policy_name: 'no-such-rule' }),
  query('agent and action', { agent_id: 'deploy-bot', action: 'block' }),
  query('agent and tool that do not meet', { agent_id: 'coder-1', tool_name: 'deploy' }),
  query('tenant and decision', { tenant_id: 'globex', decision: 'modify' }),
  query('tenant, tag and boundary', { tenant_id: 'umbrella', data_tag: 'secret', boundary: 'input' }),
  query('model, in metadata', { metadata_key: 'model', metadata_value: 'qwen3-coder-480b' }),
  query('old events', { newest_first: false }),
  { name: 'incidents', path: '/v1/dashboard/incidents?last=24h' },
  { name: 'incidents, one tenant', path: '/v1/dashboard/incidents?last=24h&tenant_id=acme' },
  { name: 'agents', path: '/v1/dashboard/observe/agents' },
  { name: 'sessions', path: '/v1/dashboard/observe/sessions' },
  { name: 'sessions, one tenant', path: '/v1/dashboard/observe/sessions?tenant_id=umbrella' },
  { name: 'tools', path: '/v1/dashboard/observe/tools' },
  { name: 'rules', path: '/v1/dashboard/rules' },
  { name: 'detection', path: '/v1/dashboard/detection' },
];

async function ask(url: string, { path, body }: PageRequest): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-user': 'admin', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Waits until the index has all events. */
async function waitForIndex(url: string): Promise<number> {
  const began = performance.now();
  for (let last = -1; performance.now() - began < FILL_MS_MAX; await sleep(2_000)) {
    const text = await ask(url, { name: '', path: '/v1/dashboard/overview?last=7d' }).catch(() => null);
    const total = text === null ? 0 : (JSON.parse(text) as { events_total: number }).events_total;
    if (total >= events * COUNTED_SHARE && total === last) return total;
    last = total;
  }
  throw new Error('the index was not filled in time');
}

async function time(url: string, page: PageRequest): Promise<readonly number[]> {
  await ask(url, page);
  const took: number[] = [];
  for (let at = 0; at < requests; at++) {
    const before = performance.now();
    await ask(url, page);
    took.push(performance.now() - before);
  }
  return took.toSorted((a, b) => a - b);
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;

try {
  if (given === undefined) {
    const demo = resolve(import.meta.dirname, '..', '..', 'scripts', 'demo', 'main.ts');
    const args = [demo, '--folder', folder, '--no-serve', '--events', String(events)];
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  }
  const postgres = onPostgres ? await startPostgres() : null;
  const url = await postgres?.makeDatabase();
  const config = `${DEMO_CONFIGURATION}${url === undefined ? '' : `storage: { url: '${url}' }\n`}${hasIndex ? 'audit: { index: postgres }\n' : ''}`;
  const service = await startTestService({ dir: folder, config, workers: 1, keep: true });
  try {
    const began = performance.now();
    const filled = await waitForIndex(service.url);
    if (hasIndex) process.stdout.write(`filled in ${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
    const total = hasIndex ? filled * (1 + (await repeatDay(url!))) : filled;
    const health = percentile(await time(service.url, { name: 'health', path: '/v1/health' }), 0.5);
    process.stdout.write(
      `${total} events in the index, the store on ${onPostgres ? 'PostgreSQL' : 'SQLite'}, the index on ${hasIndex ? 'PostgreSQL' : 'SQLite'}, load of the machine ${loadavg()[0]!.toFixed(1)}; a health check takes ${health.toFixed(1)} ms\n\n`,
    );
    process.stdout.write(
      '| Page | Median ms | p95 ms | Median, ratio to a health check |\n|---|---|---|---|\n',
    );
    for (const page of PAGES) {
      const took = await time(service.url, page);
      const [median, p95] = [percentile(took, 0.5), percentile(took, 0.95)];
      const shown = p95 > AIM_MS ? `**${p95.toFixed(0)}**` : p95.toFixed(0);
      process.stdout.write(
        `| ${page.name} | ${median.toFixed(0)} | ${shown} | ${(median / health).toFixed(0)} |\n`,
      );
    }
  } finally {
    await service.stop();
    await postgres?.remove();
  }
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

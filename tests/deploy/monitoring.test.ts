/** The alert rules and the dashboard name only metrics and labels that a service serves, and the rules do what they say. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { openAlertMetrics } from '../../src/features/alerts/alert-metrics.ts';
import { formatMetrics, openMetrics } from '../../src/runtime/observability/metrics.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { DEPLOY, explainMissing, needProgram, run } from './support/programs.ts';

interface Query {
  readonly place: string;
  readonly expr: string;
}

const RULES = join(DEPLOY, 'monitoring/rules.yaml');
/** Labels that Prometheus adds itself, and the bound of a histogram's bucket. */
const PROMETHEUS_LABELS = ['instance', 'le'];

function listRuleQueries(): Query[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ place: alert, expr })));
}

function listPanelQueries(): Query[] {
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'monitoring/dashboard.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: title, expr })));
}

/** Returns the metrics of a query with all labels that it names, of its selectors and its groups. */
function findMetrics(expr: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const groups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  return [...expr.matchAll(/\b((?:service|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [
        ...groups,
        ...[...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
      ],
    }),
  );
}

/** Returns the served series: each name with its labels. A metric without series has no labels. */
function readSeries(text: string): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>();
  const at = (name: string) => {
    const known = series.get(name) ?? new Set();
    series.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\w+) (\w+)/.exec(line);
    if (type?.[2] === 'histogram') for (const part of ['_bucket', '_sum', '_count']) at(`${type[1]}${part}`);
    else if (type !== null) at(type[1]!);
    const [, name = '', labels = ''] = /^([a-z]\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name !== '') for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) at(name).add(label);
  }
  return series;
}

/** Returns the series that need a provider, a classifier or an alert, from the records that count them. */
async function readCountedSeries(): Promise<Map<string, Set<string>>> {
  const alerts = openAlertMetrics();
  alerts.countFired('high');
  const listMore = async () => alerts.list();
  const metrics = openMetrics({ version: '0', mode: 'gateway', listMore });
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  metrics.calls.tried('main', 200, 1);
  metrics.calls.finished('main', 1);
  metrics.calls.retried('main');
  metrics.calls.breaker('main', 'open');
  metrics.calls.spent('main', 'm', usage, 1);
  metrics.calls.budget('team', 'warning');
  metrics.countClassifierCall('own', 'answered', 1);
  return readSeries(await formatMetrics([await metrics.snapshot()]));
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
const SECRET = '${APPROVALS_SECRET}';
const HELD = {
  policies: [
    { name: 'held', boundary: 'action', condition: { tools: ['pay'] }, action: 'require_approval' },
    { name: 'watched', boundary: 'input', data_tags: ['personal'], action: 'block', enforcement: 'monitor' },
  ],
  approvals: { webhook: { url: 'http://127.0.0.1:9/approvals', secret: SECRET } },
};

/** Returns the series that a service serves after a check, a match in monitor mode and a message that cannot be delivered. */
async function readServedSeries(): Promise<Map<string, Set<string>>> {
  const service = await startTestService({ config: HELD, env: { APPROVALS_SECRET: 'k'.repeat(32) } });
  try {
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, await answer.text());
    };
    await post('/v1/scan/input', { text: 'Write to jane@mailbox.org' });
    await post('/v1/intercept/tool', { tool: 'pay', input: { amount: 1 }, agent_id: 'a', session_id: 's' });
    let series = new Map<string, Set<string>>();
    await until(async () => {
      series = readSeries(await (await fetch(`${service.url}/v1/metrics`)).text());
      return ['service_deliveries_total', 'service_deliveries_pending'].every(
        (name) => series.get(name)?.size,
      );
    }, 'a message that waits');
    return series;
  } finally {
    await service.stop();
  }
}

function findUnknown(queries: readonly Query[], known: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return queries.flatMap(({ place, expr }) =>
    findMetrics(expr).flatMap(({ name, labels }) => {
      const served = known.get(name);
      if (served === undefined) return [`${place}: ${name}`];
      return labels
        .filter((label) => !served.has(label) && !PROMETHEUS_LABELS.includes(label))
        .map((label) => `${place}: ${name}{${label}}`);
    }),
  );
}

test('alert rules and dashboard name what a service serves', async () => {
  const known = await readServedSeries();
  for (const [name, labels] of await readCountedSeries())
    known.set(name, new Set([...(known.get(name) ?? []), ...labels]));
  const rules = listRuleQueries();
  const panels = listPanelQueries();
  assert.ok(rules.length >= 10 && panels.length >= 25, `${rules.length} rules, ${panels.length} queries`);
  assert.deepEqual(findUnknown([...rules, ...panels], known), []);
  const own = [...known.keys()].filter((name) => name.startsWith('service_') && !/_(sum|count)$/.test(name));
  const shown = new Set(panels.flatMap(({ expr }) => findMetrics(expr).map(({ name }) => name)));
  assert.deepEqual(
    own.filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`)),
    [],
    'the dashboard shows every metric',
  );
  const wrong = [
    { place: 'a', expr: 'sum by (agent) (rate(service_requests_total{verdict="block"}[5m]))' },
    { place: 'b', expr: 'service_requests' },
  ];
  assert.deepEqual(findUnknown(wrong, known), [
    'a: service_requests_total{agent}',
    'a: service_requests_total{verdict}',
    'b: service_requests',
  ]);
});

const skip = explainMissing('prometheus');

test('Prometheus accepts every query, and each alert fires on its fault alone', { skip }, () => {
  const promtool = needProgram('prometheus');
  const dir = mkdtempSync(join(tmpdir(), 'monitoring-'));
  try {
    for (const words of [
      ['check', 'rules', RULES],
      ['test', 'rules', join(DEPLOY, 'monitoring/rules.test.yaml')],
    ]) {
      const { code, output } = run(promtool, words);
      assert.equal(code, 0, output);
      assert.match(output, /SUCCESS/);
    }
    const rules = listPanelQueries().map(({ expr }, at) => ({
      record: `panel:query_${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const checkQueries = (list: readonly object[]) => {
      const file = join(dir, 'panels.json');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: list }] }));
      return run(promtool, ['check', 'rules', file]);
    };
    const panels = checkQueries(rules);
    assert.equal(panels.code, 0, panels.output);
    assert.notEqual(checkQueries([{ record: 'panel:query', expr: 'sum by (a (b)' }]).code, 0);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('every alert has a severity, a summary and a command or a place to look', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8'));
  const rules = groups.flatMap((group: { rules: object[] }) => group.rules);
  for (const { alert, labels, annotations } of rules) {
    assert.ok(['page', 'ticket'].includes(labels.severity), alert);
    assert.ok(annotations.summary.length > 10 && annotations.description.length > 40, alert);
  }
});

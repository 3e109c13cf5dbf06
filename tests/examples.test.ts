/** Sends every example of the API description to the real service, and compares the answer with the documented one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { MEMORY_DOCUMENT } from '../src/entry/cli/scaffold/documents.ts';
import { alertsResend } from '../src/features/alerts/delivery-operations.ts';
import { alertExample } from '../src/features/alerts/shapes.ts';
import { mcpPinsApprove, mcpPinsReject } from '../src/features/tool-pins/pin-operations.ts';
import { proxyForward } from '../src/gateways/forward/operations.ts';
import type { AnyOperation } from '../src/operations/operation.ts';
import { EXAMPLE_ADAPTER } from '../src/operations/testing/adapter.ts';
import { LOOPBACK_CALLER } from '../src/runtime/access/callers.ts';
import { OPERATOR_PERMISSIONS } from '../src/runtime/config/permissions.ts';
import { operations } from '../src/server/operations.ts';
import { startTestService, type TestService } from './support/service.ts';

/** The rule for which the examples of approvals wait. */
const REFUNDS = {
  name: 'refunds-need-a-person',
  boundary: 'action',
  condition: { tools: ['issue_refund'] },
  action: 'require_approval',
  reason: 'A refund needs an approval.',
};
const REFUND = {
  tool: 'issue_refund',
  input: { order: 'A-17', amount: 120, notify: 'jane.doe@corp-mail.io' },
  agent_id: 'support-bot',
  session_id: 'sess-1',
};

const SECRET = { MAIL_PASSWORD: ['mail', 'password', '7a61'].join('-') };

const EXAMPLE_PLUGIN = `export default ${JSON.stringify({
  name: 'example',
  version: '1.0.0',
  adapters: [EXAMPLE_ADAPTER],
})};\n`;

/** The upstream in the example of a forwarded call. */
const upstream = createServer((request, response) => {
  const { upstream_status, upstream_headers, body } = proxyForward.answer!;
  response.sendDate = false;
  request.resume().on('end', () => {
    response.writeHead(upstream_status!, upstream_headers as Record<string, string>).end(body);
  });
});

let service: TestService;
/** A service with a rule that requires approval and with secrets; the other examples have neither. */
let shop: TestService;
before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  [service, shop] = await Promise.all([
    startTestService({
      config: null,
      files: { 'schemas/memory.yaml': MEMORY_DOCUMENT },
      workers: 2,
    }),
    startTestService({
      config: {
        policies: [REFUNDS],
        secrets: { backend: 'env' },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
        detection: { fingerprint_key: '${FINGERPRINT_KEY}' },
        proxy: { target: `http://127.0.0.1:${port}` },
        plugins: { files: ['plugins/example.mjs'] },
        cost: { budgets: [{ name: 'team', limit_usd: 50, period: 'total' }] },
      },
      files: { 'plugins/example.mjs': EXAMPLE_PLUGIN },
      env: { ...SECRET, FINGERPRINT_KEY: 'a'.repeat(64) },
      workers: 2,
    }),
  ]);
});
after(async () => {
  await Promise.all([service.stop(), shop.stop()]);
  upstream.close();
});

interface ExampleDescription {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, ShownCommand>> }>>;
}

interface ShownCommand {
  readonly example?: unknown;
}

/** The call and the first answer in the description of one operation. */
interface Example {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

function getExample(
  path: string,
  method: string,
  { operationId, requestBody, responses }: ExampleDescription,
): Example {
  const [first] = Object.entries(responses);
  assert.ok(first !== undefined, operationId);
  const [status, { content }] = first;
  const [shown] = Object.values(content);
  const parameters = operations.find(({ name }) => name === operationId)?.example as Record<string, string>;
  return {
    name: operationId,
    method,
    path: withQuery(
      path.replace(/\{(\w+)\}/g, (_whole, key: string) => parameters[key] ?? ''),
      path,
      method,
      parameters,
    ),
    body: requestBody?.content['application/json']?.example,
    status: Number(status),
    answer: shown?.example,
  };
}

/** Adds the query of a GET to its path. */
function withQuery(
  filled: string,
  path: string,
  method: string,
  parameters: Readonly<Record<string, string>>,
): string {
  if (method !== 'GET') return filled;
  const rest = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`));
  return rest.length === 0
    ? filled
    : `${filled}?${new URLSearchParams(Object.fromEntries(rest.map(([name, value]) => [name, `${value}`])))}`;
}

/** Examples that report on others run after them, and those that store a value run before it is read. */
const LAST = [
  'users_list',
  'users_role',
  'users_sessions',
  'users_sign_out',
  'users_disable',
  'users_enable',
  'users_reset',
  'tenants_list',
  'tenants_create',
  'tenant_policies_save',
  'tenant_policies_show',
  'tenant_policy_versions',
  'tenant_policy_diff',
  'tenant_policies_rollback',
  'mcp_pins_reject',
  'mcp_pins_approve',
  'capabilities_revoke',
  'approvals_grants_list',
  'approvals_grants_show',
  'approvals_grants_revoke',
  'tasks_revoke',
  'audit_verify_start',
  'evidence_pack_start',
  'evidence_pack_download',
  'audit_job_show',
  'audit_job_cancel',
  'audit_hold_add',
  'audit_hold_remove',
  'audit_actions_erase',
  'keys_create',
  'keys_rotate',
  'keys_revoke',
  'dashboard_incident',
  'policy_explain',
  'audit_query',
  'health',
  'metrics',
  // The examples are about an agent that is not blocked, until the last one blocks it.
  'agents_unblock',
  'agents_blocked',
  'agents_block',
  'alert_rules_save',
  'alerts_test',
  'alert_silences_add',
  'alert_silences_remove',
  'alerts_show',
  'alerts_acknowledge',
  'alerts_resolve',
  'alerts_resend',
  'alert_rules_remove',
  // These change the policy.
  'policy_document_save',
  'policy_document_rollback',
  'dashboard_template_install',
  'dashboard_template_remove',
  'skill_install',
  'skill_remove',
];
const FIRST = 'memory_write';

function place({ name }: Example): number {
  if (name === FIRST) return -2;
  // The console shows what has happened: its examples are those of a new service.
  if (
    /^(?:dashboard_approvals|allowlist_(?:detector_)?list|keys_list|alert_rules_list|alert_silences_list|alerts_history|alerts_deliveries|alerts_evaluate)$/.test(
      name,
    )
  )
    return -4;
  return /^(?:dashboard_|observe_(?:metrics|tools))/.test(name) && !LAST.includes(name)
    ? -3
    : LAST.indexOf(name);
}

/** `policy-versions.test.ts` collects a case, which needs the event of a blocked call. */
const OFFERED = operations.filter(({ name, browser }) => browser !== true && name !== 'policy_case');

/** The operations that this service refuses, because no model is configured. */
const REFUSED = [
  'dashboard_intelligence_explain',
  'intelligence_auto_config',
  'intelligence_compliance',
  'intelligence_explain',
  'intelligence_integrate',
  'intelligence_recommend',
  'intelligence_status',
];

test('every example is answered as the description shows it', async () => {
  const description = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, ExampleDescription>>;
  };
  const examples = Object.entries(description.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        // Answers in a provider's own format have no example in the description.
        // `sign-in.test.ts` and `oidc.test.ts` call those that need a browser.
        .filter(([, { operationId }]) => OFFERED.some(({ name }) => name === operationId))
        .map(([method, described]) => getExample(path, method.toUpperCase(), described)),
    )
    .toSorted((one, other) => place(one) - place(other));
  let allowed = '';
  let issued = '';
  let keyId = '';
  let handleId = '';
  let silenceId = '';
  let holdId = '';
  let entryId = '';
  let jobId = '';
  let taskId = '';
  for (const shown of examples) {
    // The event in a description is a recent decision; the token and the handle were just issued.
    const path = shown.path
      .replace(/evt_[0-9a-f]{24}$/, allowed)
      .replace(/cap_[0-9a-f]{24}/, issued)
      .replace(/key_[0-9a-f]{24}/, keyId)
      .replace(/job_[0-9a-f]{24}/, jobId)
      .replace(/tsk_[0-9a-f]{24}/, taskId);
    const body =
      {
        memory_resolve_handle: { ...(shown.body as object), handle_id: handleId },
        alert_silences_remove: { silence_id: silenceId },
        audit_hold_remove: { hold_id: holdId },
        allowlist_detector_revoke: { id: entryId },
      }[shown.name] ?? shown.body;
    const example = { ...shown, path, body };
    const { status, text } = await ask(example);
    if (REFUSED.includes(example.name)) {
      assert.deepEqual([status, JSON.parse(text).code], [503, 'not_configured'], example.name);
      continue;
    }
    if (example.name === 'capabilities_issue') issued = JSON.parse(text).token_id;
    if (example.name === 'keys_create' || example.name === 'keys_rotate')
      keyId = (JSON.parse(text) as { key_id: string }).key_id;
    if (example.name === 'alert_silences_add') silenceId = JSON.parse(text).silence_id;
    if (example.name === 'evidence_pack_start') jobId = await finished(JSON.parse(text).job_id);
    if (example.name === 'tasks_create') taskId = (JSON.parse(text) as { task_id: string }).task_id;
    if (example.name === 'audit_hold_add') holdId = (JSON.parse(text) as { hold_id: string }).hold_id;
    if (example.name === 'allowlist_detector_add') entryId = JSON.parse(text).entries?.[0].id;
    if (example.name === FIRST) handleId = JSON.parse(text).handle_id;
    if (example.name === 'intercept_agent_message') allowed = JSON.parse(text).event_id;
    assert.equal(status, example.status, `${example.name}: ${text}`);
    // Some answers depend on the machine or the time: their schema is checked elsewhere.
    if (operations.find(({ name }) => name === example.name)?.answer === null) continue;
    assert.notEqual(example.answer, undefined, example.name);
    if (example.name === 'metrics') assertLines(text, example.answer as string);
    else assert.deepEqual(settled(JSON.parse(text)), settled(example.answer), example.name);
  }
  assert.equal(examples.length, OFFERED.length);
  const refused = examples.filter(({ name }) => REFUSED.includes(name));
  assert.equal(refused.length, REFUSED.length);
});

/** Waits until a job has ended, and returns its ID. */
async function finished(jobId: string): Promise<string> {
  const name = 'audit_job_show';
  const path = `/v1/dashboard/audit/jobs/${jobId}`;
  for (let tries = 0; tries < 1_200; tries++) {
    const { text } = await ask({ name, method: 'GET', path, body: undefined, status: 200, answer: null });
    if (JSON.parse(text).state !== 'running') return jobId;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job did not end');
}

/** Creates the pending request whose ID the examples show. */
async function waiting(order = 'A-17'): Promise<string> {
  const answer = await fetch(`${shop.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...REFUND, input: { ...REFUND.input, order } }),
  });
  return ((await answer.json()) as { approval: { request_id: string } }).approval.request_id;
}

async function approve(requestId: string, terms: object): Promise<{ grant_id: string | null }> {
  const operator = readFileSync(join(shop.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${shop.url}/v1/approvals/${requestId}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}` },
    body: JSON.stringify(terms),
  });
  return (await answer.json()) as { grant_id: string | null };
}

/** Creates the request for which a rule is proposed, because five equal ones were approved. */
async function oftenApproved(): Promise<string> {
  for (let time = 0; time < 5; time++) await approve(await waiting('B-18'), {});
  return waiting('B-18');
}

let grantId: string | null = null;

/** Creates the grant that the examples show, once. It covers the call for which the other examples wait. */
async function granted(): Promise<string> {
  grantId ??= (await approve(await waiting(), { grant: 'session' })).grant_id;
  return grantId ?? '';
}

/** Returns the request or the grant that an example is about; empty if it is about neither. */
async function findSubject(name: string): Promise<string> {
  if (name.startsWith('approvals_grants_')) return granted();
  if (name === 'approvals_proposal') return oftenApproved();
  return /^(?:dashboard_)?approvals(?:_|$)/.test(name) ? waiting() : '';
}

/** Stores the alert that the examples show. */
function addAlert(): void {
  const { deliveries: _none, group, ...shown } = alertExample;
  insertRow('alerts', {
    ...{ alert_id: shown.alert_id, rule_id: shown.rule_id, rule_name: shown.rule_name },
    ...{ severity: shown.severity, status: shown.status, source: shown.source, dedup_key: shown.dedup_key },
    ...{ group_key: 'example', group_values: JSON.stringify(group), event_count: shown.count },
    ...{ threshold: shown.threshold, window_ms: 900_000, fired_ms: Date.parse(shown.fired_at) },
    ...{ first_ms: Date.parse(shown.first_at), last_ms: Date.now() },
    sample_event_ids: JSON.stringify(shown.sample_event_ids),
    tenant_ids: JSON.stringify(shown.tenant_ids),
    channels: JSON.stringify(shown.channels),
  });
}

/** Stores the dead letter that the examples show. */
function addDeadLetter(): void {
  const { delivery_id, subject_id, kind, channel, reason, created_at } = alertsResend.answer!;
  const createdMs = Date.parse(created_at);
  insertRow('outbox_messages', {
    ...{ delivery_id, subject_id, kind, attempts: 16, reason, queue: `alerts/${channel}`, status: 'dead' },
    ...{ body: '{}', urgency: 0, created_ms: createdMs, finished_ms: createdMs, next_attempt_ms: createdMs },
  });
}

function insertRow(table: string, row: Readonly<Record<string, string | number | null>>): void {
  // The service writes to it at the same time.
  const store = new DatabaseSync(join(service.state_dir, 'store.db'), { timeout: 30_000 });
  const names = Object.keys(row);
  store
    .prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`)
    .run(...Object.values(row));
  store.close();
}

/** Lists a tool with a changed definition, so that it is quarantined. The example contains its hash. */
async function changeTool(description: string, expected: string): Promise<void> {
  const changed = { name: 'read_file', description, inputSchema: { type: 'object' } };
  const answer = await fetch(`${service.url}/v1/mcp/tools/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server: 'files', tools: [changed] }),
  });
  const { tools } = (await answer.json()) as { tools: { status: string; sha256: string }[] };
  assert.deepEqual(
    tools.map(({ status, sha256 }) => [status, sha256]),
    [['quarantined', expected]],
  );
}

async function ask({ name, method, path: shown, body }: Example): Promise<{ status: number; text: string }> {
  const subject = await findSubject(name);
  const fill = (text: string) => (subject === '' ? text : text.replace(/(?:apr|grt)_\w+/, subject));
  const path = fill(shown);
  if (name === 'alerts_show') addAlert();
  if (name === 'alerts_resend') addDeadLetter();
  if (name === 'mcp_pins_approve') await changeTool('Reads a file.', mcpPinsApprove.example.sha256);
  if (name === 'mcp_pins_reject') await changeTool('Reads any file.', mcpPinsReject.example.sha256);
  const { state_dir, url } =
    /^(adapter|allowlist|approvals|dashboard_approvals|capabilities|proxy|secrets|dashboard_cost|check_budget)/.test(
      name,
    )
      ? shop
      : service;
  const operation = operations.find((one) => one.name === name);
  const operator = readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(operation?.for_users === true && { 'x-service-user': 'admin' }),
      ...(operation !== undefined && needsPerson(operation) && { authorization: `Bearer ${operator}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: fill(JSON.stringify(body)) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** True if the example shows the call of an operator: no other credential carries the permission, or its answer names one. */
function needsPerson({ name, permission, for_users }: AnyOperation): boolean {
  if (permission === null) return false;
  if (OPERATOR_PERMISSIONS.includes(permission) || /^(?:approvals|capabilities|secrets)_/.test(name))
    return true;
  return for_users !== true && !LOOPBACK_CALLER.permissions.includes(permission);
}

function assertLines(text: string, shown: string): void {
  const lines = text.split('\n');
  for (const line of shown.split('\n')) assert.ok(lines.includes(line), line);
}

const VARYING: readonly (readonly [RegExp, string])[] = [
  [/^evt_[0-9a-f]{24}$/, 'evt'],
  [/^apr_[0-9a-f]{24}$/, 'apr'],
  [/^grt_[0-9a-f]{24}$/, 'grt'],
  [/^req_[0-9a-f]{12}_\w+$/, 'req'],
  [/^hdl_[0-9a-f]{32}$/, 'mem'],
  [/^sha256:[0-9a-f]{64}$/, 'sha256'],
  [/^cap_[0-9a-f]{24}$/, 'cap'],
  [/^tsk_[0-9a-f]{24}$/, 'tsk'],
  [/^sil_[0-9a-f]{24}$/, 'sil'],
  [/^dlv_[0-9a-f]{12,64}$/, 'dlv'],
  [/^svc_cap_/, 'token'],
  [/^http:\/\/localhost:\d+\/dashboard\/set-up#svc_link_[\w-]{43}$/, 'link'],
  [/^\d+\.\d+\.\d+(?:-\S+)?$/, 'version'],
  [/^\d{4}-\d\d-\d\d$/, 'day'],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'time'],
];
const COUNTS = ['scan_duration_ms', 'uptime_seconds'];

/** Replaces each value that differs from call to call with a word for its kind. */
function settled(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => settled(one));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, settled(one, name)]));
  if (COUNTS.includes(key)) return Number.isInteger(value) ? 'count' : value;
  if (typeof value !== 'string') return value;
  return VARYING.find(([form]) => form.test(value))?.[1] ?? value;
}

test('an answer that is shown wrongly is seen', () => {
  const shown = { event_id: 'evt_0123456789abcdef01234567', scan_duration_ms: 1, decision: 'block' };
  const actual = { event_id: 'evt_aaaaaaaaaaaaaaaaaaaaaaaa', scan_duration_ms: 7, decision: 'block' };
  assert.deepEqual(settled(actual), settled(shown));
  assert.notDeepEqual(settled({ ...actual, decision: 'allow' }), settled(shown));
  assert.notDeepEqual(settled({ ...actual, event_id: 'none' }), settled(shown));
  assert.notDeepEqual(settled({ ...actual, more: 1 }), settled(shown));
});

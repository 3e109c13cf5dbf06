/** Plays a scenario's actions against a fresh service, and collects what the service answered and recorded. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClientGuard } from '../../src/sdk/index.ts';
import { hook as runHook } from '../../tests/hook/support.ts';
import { connectGateway, ERAS } from '../../tests/mcp/connect.ts';
import { type HttpServer, startHttpServer } from '../../tests/mcp/servers/over-http.ts';
import { tool as defineTool, text } from '../../tests/mcp/servers/script.ts';
import { openApiClient } from '../../tests/support/api-client.ts';
import { startTestService, type TestService } from '../../tests/support/service.ts';
import {
  buildConfiguration,
  buildPermission,
  buildToolName,
  signToken,
  type TokenActor,
} from './configuration.ts';
import type { Scenario, ScenarioAction, Tier, ToolCallAction } from './scenarios.ts';

/** A shorter failure is over before the next action. */
const WAITED_FAILURE_SECONDS_MAX = 10;
const SESSION = 'governance';
const SERVER_ANSWER = 'done';

/** One tool call, and the product's answer. */
export interface Outcome {
  readonly as_user: string;
  readonly as_tenant: string;
  readonly tool: string;
  readonly agent_name: string | null;
  readonly agent_tier: string;
  readonly is_allowed: boolean;
  /** The service's verdict or status, or its SDK's verdict. */
  readonly evidence: string;
}

/** An audit event, with the fields that this benchmark reads. */
export interface AuditEvent {
  readonly timestamp: string;
  readonly tenant_id: string;
  readonly tool_name: string | null;
  readonly decision: string;
  readonly reason: string;
  readonly caller_id: string;
  readonly [field: string]: unknown;
}

export interface Played {
  readonly outcomes: readonly Outcome[];
  readonly events: readonly AuditEvent[];
  readonly is_reachable: boolean;
  /** Answers that are neither a decision nor a refusal. */
  readonly errors: readonly string[];
  /** Scenario parts that the product has no notion for. */
  readonly left_out: readonly string[];
}

/** The interface through which the calls go: HTTP routes, the hook, the MCP proxy, or the SDK's client. */
export const SEAMS = ['http', 'hook', 'mcp', 'sdk'] as const;
export type Seam = (typeof SEAMS)[number];

interface Stage {
  readonly scenario: Scenario;
  readonly seam: Seam;
  /** The server behind the MCP proxy. */
  readonly upstream: HttpServer | null;
  readonly outcomes: Outcome[];
  readonly errors: string[];
  readonly left_out: string[];
  /** For each agent that got a task, its agents and scopes. */
  readonly delegations: Map<string, Pick<TokenActor, 'chain' | 'delegated_scopes'>>;
  service: TestService;
  /** A failed service's address. */
  failed: { readonly url: string; readonly server: Server | null } | null;
}

export async function playScenario(scenario: Scenario, seam: Seam = 'http'): Promise<Played> {
  const upstream = seam === 'mcp' ? await startUpstream(scenario) : null;
  const { config, files } = buildConfiguration(scenario.setup, upstream?.url ?? null);
  const service = await startTestService({ config, files, workers: 1, keep: true });
  const stage: Stage = {
    scenario,
    seam,
    upstream,
    outcomes: [],
    errors: [],
    left_out: [],
    delegations: new Map(),
    service,
    failed: null,
  };
  try {
    for (const action of scenario.actions) await play(action, stage);
    await recover(stage);
    const health = await fetch(`${stage.service.url}/v1/health`);
    const { outcomes, errors, left_out } = stage;
    return { outcomes, errors, left_out, is_reachable: health.ok, events: await readEvents(stage) };
  } finally {
    stage.failed?.server?.close();
    await stage.service.stop();
    rmSync(stage.service.dir, { recursive: true, force: true });
    await upstream?.close();
  }
}

async function startUpstream({ setup }: Scenario): Promise<HttpServer> {
  const names = setup.tools.map(({ name }) => name);
  return startHttpServer({
    tools: names.map((name) => defineTool(name)),
    answers: Object.fromEntries(names.map((name) => [name, text(SERVER_ANSWER)])),
  });
}

async function play(action: ScenarioAction, stage: Stage): Promise<void> {
  const { direct_tool_call, parallel_fan_out, delegation, gateway_failure, policy_change } = action;
  if (direct_tool_call !== undefined) await callTool(direct_tool_call, 'assistant', stage);
  if (parallel_fan_out !== undefined) {
    const { worker_count, calls_per_worker } = parallel_fan_out;
    const work = async (worker: number) => {
      for (let call = 0; call < calls_per_worker; call++)
        await callTool(parallel_fan_out, `worker-${worker}`, stage);
    };
    await Promise.all(Array.from({ length: worker_count }, (_, at) => work(at + 1)));
  }
  if (delegation !== undefined) await delegate(delegation, stage);
  if (gateway_failure !== undefined) await fail(gateway_failure, stage);
  if (policy_change !== undefined) await changePolicy(policy_change, stage);
}

/** Sends the call and, if it is allowed, its result, as an agent does. */
async function callTool(action: ToolCallAction, agent: string, stage: Stage): Promise<void> {
  const { as_user, tool, input, agent_name = null, agent_tier = 'interactive' } = action;
  const asTenant = action.as_tenant ?? findTenant(as_user, stage);
  const subject = {
    agent_id: agent_name ?? agent,
    tenant_id: asTenant,
    session_id: SESSION,
  };
  const delegation = stage.delegations.get(subject.agent_id) ?? { chain: [], delegated_scopes: null };
  const question = { as_user, tool, subject, actor: { tier: agent_tier, ...delegation } };
  const ask = chooseWay(stage);
  const answer = await ask({ ...question, input }, stage);
  stage.outcomes.push({ as_user, as_tenant: asTenant, tool, agent_name, agent_tier, ...answer });
  if (answer.is_allowed && stage.failed === null) await ask({ ...question, output: SERVER_ANSWER }, stage);
}

function chooseWay({ seam, failed }: Stage) {
  if (seam === 'hook') return askOverHook;
  if (seam === 'mcp') return askOverMcp;
  // Only the product's client can decide while the service cannot.
  return seam === 'sdk' || failed !== null ? askOverSdk : askOverHttp;
}

interface Question {
  readonly as_user: string;
  readonly tool: string;
  readonly subject: {
    readonly agent_id: string;
    readonly tenant_id: string;
    readonly session_id: string;
  };
  readonly actor: TokenActor;
  readonly input?: object;
  readonly output?: string;
}

async function askOverHttp({ as_user, tool, subject, actor, ...content }: Question, stage: Stage) {
  const phase = content.output === undefined ? 'request' : 'response';
  const body = { ...subject, tool, phase, ...content };
  const { status, code, decision, rule } = await post(
    '/v1/intercept/tool',
    body,
    findToken(as_user, actor, stage),
    stage,
  );
  if (status >= 500) stage.errors.push(`status ${status} ${code}`);
  const evidence = decision === undefined ? `status ${status} ${code}` : `verdict ${decision} by ${rule}`;
  return { is_allowed: decision !== undefined && decision !== 'block', evidence };
}

async function askOverSdk({ as_user, tool, subject, actor, input, output }: Question, stage: Stage) {
  const key = findToken(as_user, actor, stage);
  const guard = createClientGuard({
    url: stage.failed?.url ?? stage.service.url,
    ...(key !== null && { key }),
    on_unavailable: isFailOpen(subject.tenant_id, stage) ? 'allow' : 'block',
  });
  const about = { ...subject, trace_id: randomBytes(16).toString('hex') };
  const asked = output === undefined ? guard.tool(tool, input, about) : guard.toolResult(tool, output, about);
  const { decision, rule } = await asked;
  return { is_allowed: decision !== 'block', evidence: `verdict of the SDK: ${decision} by ${rule}` };
}

/** Calls the tool through the proxy, which checks the result too. A call is allowed if the server's answer arrives. */
async function askOverMcp({ as_user, tool, subject, actor, input, output }: Question, stage: Stage) {
  if (output !== undefined) return { is_allowed: true, evidence: 'checked by the proxy' };
  const token = findToken(as_user, actor, stage);
  const headers = {
    traceparent: createTraceparent(),
    'x-service-agent': subject.agent_id,
    'x-service-tenant': subject.tenant_id,
    'x-service-session': subject.session_id,
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  const url = stage.failed?.url ?? stage.service.url;
  try {
    const client = await connectGateway({ url }, ERAS[0], headers);
    const name = buildToolName(tool, stage.upstream!.url);
    const { content } = await client.callTool({ name, arguments: { ...input } });
    await client.close();
    const answer = (content as readonly { readonly text?: string }[])[0]?.text ?? '';
    return { is_allowed: answer === SERVER_ANSWER, evidence: `result through the proxy: ${answer}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { is_allowed: false, evidence: `no result through the proxy: ${reason}` };
  }
}

/** Runs the hook with the user's token in its environment, where the program that starts the agent puts it. */
async function askOverHook({ as_user, tool, subject, actor, input, output }: Question, stage: Stage) {
  const call = { ...subject, tool, ...(output === undefined ? { input } : { output }) };
  const token = findToken(as_user, actor, stage);
  const env = {
    TRACEPARENT: createTraceparent(),
    ...(token !== null && { SERVICE_USER_TOKEN: token }),
  };
  const { stdout } = await runHook(stage.service.dir, call, ['--dialect', 'plain'], env);
  const { decision, rule } = JSON.parse(stdout) as Answer;
  return { is_allowed: decision !== 'block', evidence: `verdict of the hook: ${decision} by ${rule}` };
}

/** The message that hands over the task. The receiver's calls have a token that the identity provider exchanged. */
async function delegate(action: NonNullable<ScenarioAction['delegation']>, stage: Stage): Promise<void> {
  const { as_user, from_agent, to_agent, task, delegated_scopes } = action;
  const tenantId = action.as_tenant ?? findTenant(as_user, stage);
  const agents = { source_agent_id: from_agent, destination_agent_id: to_agent };
  const body = { message: task, ...agents, tenant_id: tenantId, session_id: SESSION };
  const before = stage.delegations.get(from_agent) ?? { chain: [from_agent], delegated_scopes: null };
  const sender = { tier: 'interactive' as Tier, ...before };
  await post('/v1/intercept/agent-message', body, findToken(as_user, sender, stage), stage);
  stage.delegations.set(to_agent, {
    chain: [...before.chain, to_agent],
    delegated_scopes: delegated_scopes.filter((scope) => before.delegated_scopes?.includes(scope) ?? true),
  });
}

async function fail(
  { mode, duration_seconds }: NonNullable<ScenarioAction['gateway_failure']>,
  stage: Stage,
): Promise<void> {
  await stage.service.stop();
  const server =
    mode === 'error_5xx' ? createServer((_, response) => response.writeHead(500).end('{}')) : null;
  if (server !== null) await once(server.listen(0, '127.0.0.1'), 'listening');
  const url =
    server === null ? stage.service.url : `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stage.failed = { url, server };
  if (duration_seconds <= WAITED_FAILURE_SECONDS_MAX) await recover(stage);
}

/** Starts the service again, with the state that it had. */
async function recover(stage: Stage): Promise<void> {
  if (stage.failed === null) return;
  stage.failed.server?.close();
  stage.failed = null;
  stage.service = await startTestService({ dir: stage.service.dir, workers: 1, keep: true });
}

async function changePolicy(
  { tenant, user, tool, tier, set_permission }: NonNullable<ScenarioAction['policy_change']>,
  stage: Stage,
): Promise<void> {
  if (set_permission !== 'deny') {
    stage.left_out.push('a permission that is added to other rules');
    return;
  }
  const name = tool === undefined ? undefined : buildToolName(tool, stage.upstream?.url ?? null);
  const rule = { ...buildPermission('deny', { tier, tool: name, user }), name: 'policy-change' };
  const path = `/v1/dashboard/tenants/${tenant}/policies`;
  const body = { policies: [rule], base_version: 0, note: 'benchmark' };
  const { status, body: answer } = await openApiClient(stage.service)(path, { method: 'PUT', body });
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(answer)}`);
}

interface Answer {
  readonly status: number;
  readonly decision?: string;
  readonly rule?: string;
  readonly code?: string;
}

async function post(path: string, body: object, token: string | null, stage: Stage): Promise<Answer> {
  const answer = await fetch(`${stage.service.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: createTraceparent(),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

/** Returns a call's trace, as an instrumented agent sends it. */
function createTraceparent(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}

/** Returns a user's token; `null` for a call without a user. */
function findToken(asUser: string, actor: TokenActor, { scenario }: Stage): string | null {
  const { tenants } = scenario.setup;
  const own = tenants.filter(({ users }) => users.some(({ uid }) => uid === asUser));
  const user = own[0]?.users.find(({ uid }) => uid === asUser);
  return user === undefined
    ? null
    : signToken(
        user,
        own.map(({ id }) => id),
        actor,
      );
}

function findTenant(asUser: string, { scenario }: Stage): string {
  const { tenants } = scenario.setup;
  return (tenants.find(({ users }) => users.some(({ uid }) => uid === asUser)) ?? tenants[0]!).id;
}

function isFailOpen(tenant: string, { scenario }: Stage): boolean {
  return scenario.setup.tenants.find(({ id }) => id === tenant)?.policy?.fail_mode === 'fail_open';
}

async function readEvents({ service, scenario, upstream }: Stage): Promise<readonly AuditEvent[]> {
  const body = { boundary: 'action', limit: 1000, newest_first: false };
  const { status, body: answer } = await openApiClient(service)('/v1/audit/query', { body });
  if (status !== 200) throw new Error(`The audit query returned ${status}.`);
  const { tools } = scenario.setup;
  const names = new Map(tools.map(({ name }) => [buildToolName(name, upstream?.url ?? null), name]));
  return (answer.events as readonly AuditEvent[]).flatMap((event) => {
    const toolName = names.get(event.tool_name ?? '');
    return toolName === undefined ? [] : [{ ...event, tool_name: toolName }];
  });
}

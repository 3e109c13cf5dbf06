import { createContent } from '../core/json/source.ts';
import { findValueSource, SOURCE_LIMITS } from '../core/json/value-source.ts';
import { Type } from '../core/schema.ts';
import type { Crossing, Json } from '../core/types/index.ts';
import {
  buildAnswer,
  type PayloadResult,
  readEventName,
  readPayloadChecks,
  readPayloadSubject,
} from '../runtime/adapters/read-payload.ts';
import type { AdapterSpec, EventSpec, FoundCheck, SubjectKey } from '../runtime/adapters/types.ts';
import { type ActorContext, buildTextCrossing, buildToolCrossing } from '../runtime/enforcement/crossings.ts';
import type { EnforcementExtras, Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import { readContentValue } from './check.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { buildVerdictReply, findChangedContent } from './reply.ts';
import { buildActor, resolveSubject } from './subject.ts';

export const adapterCheck = defineOperation({
  name: 'adapter_check',
  summary: 'Check a request through a declarative adapter',
  description:
    'Judges what a program sends in its own form and answers in its own form, as an adapter of a plug-in says; `GET /v1/plugins` lists them. A refusal by the policy is an answer of status 200 in the words of the adapter, and so is the no to a body that the adapter cannot read.',
  http: { method: 'POST', path: '/v1/adapters/{adapter_name}', below: true },
  permission: 'check',
  needs: 'policy',
  input: Type.Object(
    { adapter_name: Type.String({ minLength: 1, maxLength: 64 }) },
    { description: 'The body is the program’s own.' },
  ),
  output: { description: 'As the adapter says.' },
  example: { adapter_name: 'example', text: 'What does the SLA say about response times?' } as {
    adapter_name: string;
  },
  answer: { allowed: true },
  refusals: ['not_found', 'agent_context_required'],
  async run({ adapter_name, ...payload }, context) {
    const { adapters } = await context.runtime.plugins();
    const adapter = adapters.find(({ name }) => name === adapter_name);
    if (adapter === undefined)
      throw new Refusal(
        'not_found',
        'No plug-in brings an adapter of this name; `GET /v1/plugins` lists those that there are.',
      );
    return runAdapter(adapter, payload, context);
  },
});

type Payload = Readonly<Record<string, unknown>>;

async function runAdapter(adapter: AdapterSpec, payload: Payload, context: Context): Promise<Json> {
  const name = readEventName(adapter, payload, null);
  if (name.ok && (adapter.ignored_events ?? []).includes(name.value))
    return buildAnswer(adapter.pass, payload, {});
  const event = name.ok && Object.hasOwn(adapter.events, name.value) ? adapter.events[name.value]! : null;
  if (!name.ok || event === null) throw buildUnknownEventRefusal(name);
  const deny = (reason: string) => buildAnswer(event.deny, payload, { reason });
  const subject = readPayloadSubject(adapter, payload);
  const checks = readPayloadChecks(event, payload);
  if (!subject.ok) return deny(formatUnreadable(subject.why));
  if (!checks.ok) return deny(formatUnreadable(checks.why));
  const acting = getActing(adapter, subject.value, context);
  const about = { adapter: adapter.name, adapter_event: name.value };
  const judged: Ruling[] = [];
  for (const check of checks.value) judged.push(await judgeCheck(check, acting, about, context));
  return getAnswer(adapter, event, judged, payload);
}

/**
 * Returns the refusal for an event that the adapter does not name. An event formats its own denial, so an unknown event
 * has none.
 */
function buildUnknownEventRefusal(name: PayloadResult<string>): Refusal {
  const what = name.ok ? 'is of an event that the adapter does not know' : name.why;
  return new Refusal('invalid_request', `The body ${what}.`);
}

function formatUnreadable(why: string): string {
  return `The request cannot be evaluated, so it is refused: it ${why}.`;
}

/**
 * Returns the acting agent: the one in the payload, else the only one that the credential allows, else the adapter's
 * default.
 */
function getActing(
  { name, agent_id: own = name }: AdapterSpec,
  subject: Readonly<Record<SubjectKey, string | null>>,
  context: Context,
): ActorContext {
  const agentId = subject.agent_id ?? (context.caller.agents === '*' ? own : null);
  const settled = resolveSubject({ agent_id: agentId, tenant_id: subject.tenant_id }, context);
  return { ...buildActor({}, settled, context.runtime), session_id: subject.session_id };
}

const ENDPOINTS: Readonly<Record<FoundCheck['kind'], Endpoint>> = {
  call: 'intercept_tool',
  result: 'intercept_tool',
  prompt: 'scan_input',
  answer: 'guard_output',
};

function judgeCheck(
  check: FoundCheck,
  acting: ActorContext,
  about: Readonly<Record<string, string>>,
  { runtime, caller }: Context,
): Promise<Ruling> {
  const crossing = getCrossing(check, acting);
  const extras: EnforcementExtras = { buildMetadata: () => about, reuse_approval: true };
  return runtime.enforce(crossing, caller, ENDPOINTS[check.kind], null, extras);
}

function getCrossing({ kind, tool = '', content: value }: FoundCheck, acting: ActorContext): Crossing {
  const content = createContent(value, findValueSource(value, SOURCE_LIMITS));
  if (kind === 'prompt' || kind === 'answer') {
    const boundary = kind === 'prompt' ? 'input' : 'output';
    return buildTextCrossing(boundary, acting, content);
  }
  const phase = kind === 'call' ? 'request' : 'response';
  return buildToolCrossing(acting, { phase, tool, content });
}

/**
 * Builds one answer from all checks of an event: the strictest verdict wins. Changed content replaces the original only
 * if it comes from the first check and no other check changes anything.
 */
function getAnswer(
  adapter: AdapterSpec,
  event: EventSpec<Json>,
  judged: readonly Ruling[],
  payload: Payload,
): Json {
  const blocked = judged.find(({ verdict }) => verdict.decision === 'block');
  if (blocked !== undefined) return buildAnswer(event.deny, payload, { reason: getReason(blocked) });
  const [first, ...others] = judged.filter(({ verdict }) => verdict.decision === 'modify');
  if (first === undefined) return buildAnswer(adapter.pass, payload, {});
  const reason = getReason(first);
  const changed = findChangedContent(first.verdict);
  const hasPlace = event.change !== undefined && event.checks[0]?.each === undefined;
  if (hasPlace && others.length === 0 && first === judged[0] && changed !== null)
    return buildAnswer(event.change!, payload, { reason, changed: readContentValue(changed) as Json });
  const what = `${reason} It cannot be changed here, so it is refused.`;
  return buildAnswer(event.deny, payload, { reason: what });
}

/** Returns the reason with the approval request, the rule and the event ID. */
function getReason(judged: Ruling): string {
  const { rule, reason, help, event_id, approval } = buildVerdictReply(judged);
  const request =
    approval === undefined ? '' : ` Approval request ${approval.request_id} is ${approval.status}.`;
  return `${[reason, help].filter(Boolean).join(' ')}${request} (rule ${rule}, event ${event_id})`;
}

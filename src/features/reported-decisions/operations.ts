import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { dropBlankName, type RequestSubject, resolveSubject } from '../../operations/subject.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { buildReportedEvent } from './build-event.ts';
import { listNames } from './names.ts';
import { BATCH_BYTES_MAX, BATCH_EVENTS_MAX, type ReportedEvent, reportedEventSchema } from './shape.ts';

/** A reported decision that is not recorded. */
interface RefusedEvent {
  readonly event_id: string;
  readonly code: 'forbidden' | 'conflict' | 'invalid_request';
  readonly reason: string;
}

export const auditImport = defineOperation({
  name: 'audit_import',
  summary: 'Record decisions of local guards',
  description:
    'Adds decisions that a program made with a local guard of the SDK to the audit log. The events hold metadata only, and members that the schema does not name are refused. The caller and the reason are those of the service, and `metadata.reported_by` is `sdk`, so that they differ from decisions of the service. A decision that is recorded already counts as a duplicate, so that a batch may be sent again. One outside the scope of the credential is refused alone.',
  http: { method: 'POST', path: '/v1/audit/import' },
  permission: 'audit:import',
  needs: 'live',
  input: Type.Object(
    {
      events: Type.Array(reportedEventSchema, {
        minItems: 1,
        maxItems: BATCH_EVENTS_MAX,
        description: `The decisions; ${BATCH_BYTES_MAX} bytes as JSON at most.`,
      }),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    recorded: Type.Integer({ description: 'Decisions that are in the audit log now.' }),
    duplicates: Type.Integer({ description: 'Decisions that were in the audit log before.' }),
    refused: Type.Array(
      Type.Object({
        event_id: Type.String(),
        code: Type.Enum(['forbidden', 'conflict', 'invalid_request']),
        reason: Type.String(),
      }),
    ),
  }),
  example: {
    events: [
      {
        event_id: 'evt_0123456789abcdef0123456789abcdef',
        timestamp: '2026-01-31T12:00:00.000Z',
        boundary: 'action',
        decision: 'block',
        action: 'block',
        policy_name: 'builtin.secret.action',
        policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
        coverage: 'full',
        data_tags: ['secret.credential'],
        agent_id: 'support-bot',
        tool_name: 'send_email',
        metadata: {
          endpoint: 'intercept_tool',
          findings: 1,
          found_tags: ['secret.credential critical 1'],
          phase: 'request',
        },
      },
    ],
  },
  answer: { recorded: 1, duplicates: 0, refused: [] },
  refusals: ['too_large', 'not_configured', 'unavailable'],
  async run({ events }, context) {
    if (Buffer.byteLength(JSON.stringify(events)) > BATCH_BYTES_MAX)
      throw new Refusal(
        'too_large',
        `A batch may have ${BATCH_BYTES_MAX} bytes. Send fewer events at a time.`,
      );
    // Loaded on demand, because it needs all detectors, and a worker starts without them.
    const { detectSecretNames } = await import('./find-secrets.ts');
    const secrets = detectSecretNames(events, context.runtime.policy(), context.runtime.now_ms());
    if (secrets === null)
      throw new Refusal(
        'invalid_request',
        'The names in `events` cannot be scanned. Send fewer events at a time.',
      );
    const refused: RefusedEvent[] = [];
    const admitted = admitEvents(events, secrets, context, refused);
    const known = await context.runtime.findEventCallers([...admitted.keys()]);
    let duplicates = events.length - admitted.size - refused.length;
    const recorded: AuditEvent[] = [];
    for (const event of admitted.values()) {
      const callerId = known.get(event.event_id);
      if (callerId === undefined) recorded.push(event);
      else if (callerId === context.caller.id) duplicates += 1;
      else refused.push(refuseEvent(event, 'conflict', 'Another caller has an event with this `event_id`.'));
    }
    await Promise.all(recorded.map((event) => context.runtime.note(event)));
    return { recorded: recorded.length, duplicates, refused };
  },
});

/** Returns the audit events of the decisions that the caller may report, by ID. Adds the others to `refused`. */
function admitEvents(
  events: readonly ReportedEvent[],
  secrets: ReadonlySet<string>,
  context: Context,
  refused: RefusedEvent[],
): ReadonlyMap<string, AuditEvent> {
  const { caller, runtime } = context;
  const nowMs = runtime.now_ms();
  const admitted = new Map<string, AuditEvent>();
  for (const event of events) {
    const refusal = checkReported(event, secrets, context);
    if (refusal !== null) refused.push(refusal);
    else
      admitted.set(event.event_id, buildReportedEvent(event, resolveReporter(event, context), caller, nowMs));
  }
  return admitted;
}

/**
 * Resolves whom a decision concerns, as for a check: the credential proves the person, the chain and the tier, or the
 * program claims them.
 */
function resolveReporter(event: ReportedEvent, context: Context): RequestSubject {
  const { claimed_user: userId, chain, agent_tier, task_id, trace_id } = event;
  return resolveSubject(
    { ...event, context: { user_id: userId, chain, agent_tier, task_id, trace_id } },
    context,
  );
}

/** Returns why a decision is not recorded; `null` if it is. */
function checkReported(
  event: ReportedEvent,
  secrets: ReadonlySet<string>,
  context: Context,
): RefusedEvent | null {
  if (listNames(event).some((each) => secrets.has(each)))
    return refuseEvent(event, 'invalid_request', 'A name in it holds a secret.');
  if (OF_THE_SERVICE.test(event.policy_name))
    return refuseEvent(event, 'invalid_request', '`policy_name` is one of the service.');
  if (dropBlankName(event.agent_id) === null)
    return refuseEvent(event, 'invalid_request', '`agent_id` is empty.');
  if (Number.isNaN(Date.parse(event.timestamp)))
    return refuseEvent(event, 'invalid_request', '`timestamp` is not a time.');
  try {
    resolveReporter(event, context);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuseEvent(event, error.code === 'forbidden' ? 'forbidden' : 'invalid_request', error.message);
  }
}

/** The names of rules that a local guard does not have: changes by people, the kill switch, budgets, tokens and memory. */
const OF_THE_SERVICE = /^(?:agent|budget|capability_token|memory|service)\./;

function refuseEvent(
  { event_id }: Pick<ReportedEvent, 'event_id'>,
  code: RefusedEvent['code'],
  reason: string,
) {
  return { event_id, code, reason };
}

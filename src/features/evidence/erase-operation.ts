import { Type } from '../../core/schema.ts';
import { findOwnEvent } from '../../operations/audit.ts';
import { recordOperatorChange } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { dropBlankName } from '../../operations/subject.ts';
import type { ActionErasure } from '../../runtime/audit/erase-actions.ts';
import type { AuditFailure } from '../../runtime/audit/failure.ts';
import { AuditFilterError, parseFilter } from '../../runtime/audit/filter.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import { eraseRequestActions, findOpenRequest } from '../approvals/erase-actions.ts';
import { copyLegalHolds } from './hold-store.ts';

const EXAMPLE_ID = 'evt_0123456789abcdef01234567';

export const auditActionsErase = defineOperation({
  name: 'audit_actions_erase',
  summary: 'Erase recorded tool calls',
  description:
    'Erases the shown actions of one event, or of all events before a time, from the journal, the index and approval requests. The events stay and the chain still verifies. Does nothing under a legal hold, or while a covered approval request is open.',
  http: { method: 'POST', path: '/v1/dashboard/audit/erase-actions' },
  cli: {
    verb: 'audit erase-actions',
    options: ['before', 'event_id'],
    line: ({ erased }) => `${erased} shown ${erased === 1 ? 'action' : 'actions'} erased.`,
    examples: [
      ['customshouse audit erase-actions --before 30d', 'older than 30 days'],
      [`customshouse audit erase-actions --event ${EXAMPLE_ID}`, 'of one event'],
    ],
  },
  permission: 'audit:manage',
  caller: 'person',
  tenants: { all_unless: 'event_id' },
  needs: 'store',
  input: Type.Object({
    before: Type.Optional(
      Type.Nullable(
        Type.String({
          maxLength: 40,
          description: 'The time after the newest event: ISO 8601, or a duration before now (`30d`).',
        }),
      ),
    ),
    event_id: Type.Optional(
      Type.Nullable(Type.String({ maxLength: 64, description: 'The event, instead of a time.' })),
    ),
  }),
  output: Type.Object({
    erased: Type.Integer({ description: 'Actions erased from the journal.' }),
    requests_erased: Type.Integer({ description: 'Approval requests whose call was erased.' }),
  }),
  example: { before: '365d' },
  answer: { erased: 0, requests_erased: 0 },
  refusals: ['not_found', 'conflict'],
  async run(input, context) {
    const { runtime } = context;
    const { erasure, requests } = await parseErasure(input, context);
    const store = await runtime.store();
    const open = await findOpenRequest(store, requests, runtime.now_ms());
    if (open !== null)
      throw new Refusal(
        'conflict',
        `The approval request \`${open}\` is still open, so nothing was erased. Decide it first, or erase other events.`,
      );
    await copyLegalHolds(runtime.limits.state_dir, store, Date.now());
    await recordErasure(erasure, context);
    const erased = await runtime.eraseActions(erasure).catch((fault: unknown) => {
      const isHeld =
        (fault as { code?: unknown } | null)?.code === ('actions_held' satisfies AuditFailure['code']);
      throw isHeld ? new Refusal('conflict', (fault as Error).message) : fault;
    });
    return { erased, requests_erased: await eraseRequestActions(store, requests) };
  },
});

interface ErasureInput {
  readonly before?: string | null;
  readonly event_id?: string | null;
}

async function parseErasure(input: ErasureInput, context: Context) {
  const before = dropBlankName(input.before);
  const eventId = dropBlankName(input.event_id);
  if ((before === null) === (eventId === null))
    throw new Refusal('invalid_request', 'Name either `before` or `event_id`.');
  if (eventId === null) {
    const beforeMs = parseTime(before!, context);
    return { erasure: { before_ms: beforeMs }, requests: { before_ms: beforeMs } };
  }
  const { approval_request_id: requestId } = (await findOwnEvent(eventId, context)).metadata;
  return {
    erasure: { event_id: eventId },
    requests: { request_id: typeof requestId === 'string' ? requestId : null },
  };
}

function parseTime(before: string, { runtime }: Context): number {
  const nowMs = runtime.now_ms();
  try {
    return Math.min(nowMs, parseFilter({ until: before }, nowMs).until_ms ?? nowMs);
  } catch (error) {
    if (error instanceof AuditFilterError)
      throw new Refusal(
        'invalid_request',
        '`before` is not valid. Use ISO 8601, or a duration such as `30d`.',
      );
    throw error;
  }
}

/** Written first: an erasure that is not recorded does not happen. */
function recordErasure(erasure: ActionErasure, context: Context): Promise<void> {
  const metadata =
    'event_id' in erasure ? { erased_event_id: erasure.event_id } : { before: formatTime(erasure.before_ms) };
  const change = { phase: 'audit_actions_erase', reason: 'An operator erases shown actions.', metadata };
  return recordOperatorChange(change, context);
}

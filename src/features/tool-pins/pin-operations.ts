import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { name, PRINTABLE_TEXT, tenantId } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import { decidePin, listPins, type PinRow } from './pins.ts';
import { mcpPins } from './tables.ts';

const server = Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT });
const toolName = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_.-]+$' });
const userId = {
  ...name,
  description: 'The user of the list, if the server shows users different ones.',
} as const;
const hash = Type.String({ pattern: '^sha256:[0-9a-f]{64}$', maxLength: 71 });
const pinSchema = Type.Object({
  ...mcpPins.schema.properties,
  status: Type.Enum(['pinned', 'quarantined', 'rejected'], {
    description:
      '`quarantined`: a new definition waits for approval. `rejected`: an operator rejected it, and agents see the pinned one, if any.',
  }),
});

export const mcpPinsList = defineOperation({
  name: 'mcp_pins_list',
  summary: 'List the tools of MCP servers that are known',
  description: 'Lists the pinned definition of each tool, and the one that waits for approval.',
  http: { method: 'GET', path: '/v1/mcp/pins' },
  cli: {
    verb: 'mcp pins list',
    options: ['server'],
    columns: {
      rows: 'pins',
      cells: { SERVER: 'server', USER: 'user_id', TOOL: 'tool', STATUS: 'status', WHY: 'quarantined_reason' },
      empty: 'No tools are known: none was listed through the gateway yet.',
    },
    examples: [['customshouse mcp pins list --json', '']],
  },
  permission: 'approvals:read',
  tenants: 'all',
  needs: 'store',
  input: Type.Object({
    server: Type.Optional(name),
    tool: Type.Optional(name),
    tenant_id: Type.Optional(tenantId),
  }),
  output: Type.Object({ pins: Type.Array(pinSchema), count: Type.Integer() }),
  example: { server: 'files' },
  answer: { pins: [], count: 0 },
  async run(input, context) {
    const { db } = await context.runtime.store();
    const one = dropBlankName(input.tenant_id) ?? dropBlankName(context.tenant_id);
    const tenantIds = one === null ? ('*' as const) : [resolveTenant(input, context)];
    const rows = await listPins(db, {
      tenant_ids: tenantIds,
      server: dropBlankName(input.server),
      tool: dropBlankName(input.tool),
    });
    return { pins: rows.map(buildPinReply), count: rows.length };
  },
});

/** The parts that approving and rejecting a definition share. */
const PIN_DECISION = {
  permission: 'approvals:decide',
  caller: 'person',
  tenants: 'all',
  needs: 'store',
  input: Type.Object({
    server,
    tool: toolName,
    sha256: hash,
    user_id: Type.Optional(userId),
    tenant_id: Type.Optional(tenantId),
  }),
  output: pinSchema,
  refusals: ['conflict'],
} as const;

export const mcpPinsApprove = defineOperation({
  name: 'mcp_pins_approve',
  summary: 'Approve a quarantined definition of a tool',
  description:
    'Pins the definition that waits, if it is still the one whose hash is given: what was seen is what is approved.',
  http: { method: 'POST', path: '/v1/mcp/pins/approve' },
  cli: {
    verb: 'mcp pins approve',
    arguments: ['server', 'tool'],
    options: ['sha256', 'user_id'],
    line: ({ server, tool }) => `Approved: agents see ${tool} of ${server} with their next list.`,
    examples: [['customshouse mcp pins approve files read_file --sha256 sha256:1f0c...', '']],
  },
  ...PIN_DECISION,
  example: {
    server: 'files',
    tool: 'read_file',
    sha256: 'sha256:98aa30f036a188f9dceb3f74a948bf9308d12f81736528a312f3b93dac080dd2',
  },
  answer: {
    tenant_id: 'default',
    server: 'files',
    user_id: '',
    tool: 'read_file',
    pinned_sha256: 'sha256:98aa30f036a188f9dceb3f74a948bf9308d12f81736528a312f3b93dac080dd2',
    quarantined_sha256: null,
    quarantined_reason: null,
    approved_by: 'operator',
    rejected_sha256: null,
    rejected_by: null,
    status: 'pinned',
    pinned_definition: { description: 'Reads a file.', inputSchema: { type: 'object' }, name: 'read_file' },
    quarantined_definition: null,
    first_seen_at: '2026-01-31T12:00:00.000Z',
    changed_at: '2026-01-31T12:00:05.000Z',
  },
  run: (input, context) => decideOnPin(input, true, context),
});

export const mcpPinsReject = defineOperation({
  name: 'mcp_pins_reject',
  summary: 'Reject a quarantined definition of a tool',
  description:
    'The definition stays hidden from agents and no longer waits, if it is still the one whose hash is given. Another definition waits again, and a rejected one can still be approved.',
  http: { method: 'POST', path: '/v1/mcp/pins/reject' },
  cli: {
    verb: 'mcp pins reject',
    arguments: ['server', 'tool'],
    options: ['sha256', 'user_id'],
    line: ({ server, tool }) => `Rejected: agents do not see this definition of ${tool} of ${server}.`,
    examples: [['customshouse mcp pins reject files read_file --sha256 sha256:1f0c...', '']],
  },
  ...PIN_DECISION,
  example: {
    server: 'files',
    tool: 'read_file',
    sha256: 'sha256:01249f03e492a0d398e442de4a7d2b5ba800c8d612859e1ca2ad6624a1c03635',
  },
  answer: {
    tenant_id: 'default',
    server: 'files',
    user_id: '',
    tool: 'read_file',
    pinned_sha256: 'sha256:8a71338879652c5454562c7b01684c894cdc60e26b7cbb5818102796909f7067',
    quarantined_sha256: 'sha256:01249f03e492a0d398e442de4a7d2b5ba800c8d612859e1ca2ad6624a1c03635',
    quarantined_reason: 'Its definition has changed since it was pinned.',
    approved_by: null,
    rejected_sha256: 'sha256:01249f03e492a0d398e442de4a7d2b5ba800c8d612859e1ca2ad6624a1c03635',
    rejected_by: 'operator',
    status: 'rejected',
    pinned_definition: { inputSchema: { type: 'object' }, name: 'read_file' },
    quarantined_definition: {
      description: 'Reads any file.',
      inputSchema: { type: 'object' },
      name: 'read_file',
    },
    first_seen_at: '2026-01-31T12:00:00.000Z',
    changed_at: '2026-01-31T12:00:05.000Z',
  },
  run: (input, context) => decideOnPin(input, false, context),
});

interface PinDecisionInput {
  readonly server: string;
  readonly tool: string;
  readonly sha256: string;
  readonly user_id?: string | null;
  readonly tenant_id?: string | null;
}

/** Records the decision of a person on a quarantined definition, and stores it. */
async function decideOnPin(input: PinDecisionInput, approves: boolean, context: Context) {
  const { caller, runtime } = context;
  const { tool, sha256 } = input;
  const scope = {
    tenant_id: resolveTenant({ tenant_id: input.tenant_id }, context),
    server: input.server,
    user_id: dropBlankName(input.user_id) ?? '',
  };
  const nowMs = runtime.now_ms();
  // The event is recorded before the store changes, so every decision in the store is in the audit log.
  await runtime.note(
    buildServiceEvent({
      event_id: createEventId(nowMs),
      now_ms: nowMs,
      phase: approves ? 'mcp_pin_approve' : 'mcp_pin_reject',
      done: true,
      reason: approves
        ? 'An operator approved a definition of a tool.'
        : 'An operator rejected a definition of a tool.',
      caller_id: caller.id,
      policy_hash: runtime.policy().hash,
      about: { tenant_id: scope.tenant_id, tool_name: tool },
      metadata: { mcp_server: scope.server, sha256, user_id: scope.user_id },
    }),
  );
  const { db } = await runtime.store();
  const row = await decidePin(db, scope, tool, { approves, sha256, by: caller.id, now_ms: nowMs });
  if (row === null)
    throw new Refusal(
      'conflict',
      'No definition with this hash is quarantined. List the pins, and decide on the hash that is listed.',
    );
  return buildPinReply(row);
}

function buildPinReply(row: PinRow) {
  return { ...mcpPins.show(row), status: readStatus(row) };
}

function readStatus({ quarantined_sha256, rejected_sha256 }: PinRow): 'pinned' | 'quarantined' | 'rejected' {
  if (quarantined_sha256 === null) return 'pinned';
  return quarantined_sha256 === rejected_sha256 ? 'rejected' : 'quarantined';
}

import { redact } from '../../core/decision/redact.ts';
import { UNLIMITED_WALK, walkJson } from '../../core/json/walk.ts';
import { hashJson } from '../../core/policy/compile/canonical-json.ts';
import type { Content, Json, JudgedFinding, Verdict } from '../../core/types/index.ts';
import { checkBody } from '../../operations/check-body.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { agentId, name, sessionId, tenantId } from '../../operations/shapes.ts';
import { dropBlankName, resolveSubject, resolveTenant } from '../../operations/subject.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import { buildTextCrossing } from '../../runtime/enforcement/crossings.ts';
import {
  approvePin,
  compareWithPins,
  type ListedTool,
  listPins,
  maskToolName,
  type PinRow,
  type PinScope,
  readPinStatuses,
  type ToolPinStatus,
} from './pins.ts';
import { findSnapshotEvent, storeSnapshot, type ToolListSnapshot } from './tool-list-snapshots.ts';

const server = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\p{Cc}\\p{Cs}]*$' } as const;
const toolName = { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_.-]+$' } as const;
const userId = {
  ...name,
  description: 'Whose list it is, where a server shows users different ones.',
} as const;
const hash = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$', maxLength: 71 } as const;
const text = { type: ['string', 'null'] } as const;

export const mcpToolsCheck = defineOperation({
  name: 'mcp_tools_check',
  summary: 'Check the tools that an MCP server lists',
  description:
    'Scans tool definitions for hidden instructions, compares each with the pinned one, and returns which tools may be shown to an agent. A definition is pinned when it is first seen. Changed and suspicious definitions are held back until an operator approves them. An unchanged list is only compared and writes no further event.',
  http: { method: 'POST', path: '/v1/mcp/tools/check' },
  permission: 'check',
  needs: 'store',
  check_body: {},
  input: checkBody({
    type: 'object',
    required: ['server', 'tools'],
    properties: {
      server: { ...server, description: 'The name of the server in this service.' },
      user_id: userId,
      agent_id: agentId,
      tenant_id: tenantId,
      session_id: sessionId,
      tools: {
        type: 'array',
        maxItems: 1_000,
        items: { type: 'object' },
        description: 'The definitions, just as the server lists them; the whole list.',
      },
    },
  }),
  output: {
    type: 'object',
    required: ['event_id', 'tools'],
    properties: {
      event_id: { type: 'string', description: 'The audit event of the check.' },
      tools: {
        type: 'array',
        items: {
          type: 'object',
          required: ['tool', 'status', 'sha256', 'reason'],
          properties: {
            tool: { type: 'string' },
            status: {
              enum: ['pinned', 'quarantined'],
              description: '`quarantined`: not to be shown or called.',
            },
            sha256: { type: 'string', description: 'Of the canonical definition (RFC 8785).' },
            reason: text,
            definition: {
              type: 'object',
              description: 'The definition to show instead; only if something in it was redacted.',
            },
          },
        },
      },
    },
  },
  example: { server: 'files', tools: [{ name: 'read_file', inputSchema: { type: 'object' } }] },
  answer: {
    event_id: 'evt_0123456789abcdef01234567',
    tools: [
      {
        tool: 'read_file',
        status: 'pinned',
        sha256: 'sha256:8a71338879652c5454562c7b01684c894cdc60e26b7cbb5818102796909f7067',
        reason: null,
      },
    ],
  },
  async run(input, context) {
    const { runtime, caller } = context;
    const subject = resolveSubject(input, context);
    const scope = {
      tenant_id: subject.tenant_id,
      server: input.server,
      user_id: dropBlankName(input.user_id) ?? '',
    };
    const definitions = input.tools as { [name: string]: Json }[];
    const now_ms = runtime.now_ms();
    const { db } = await runtime.store();
    const snapshot: ToolListSnapshot = {
      version: runtime.version,
      policy_hash: runtime.policy().hash,
      ...scope,
      agent_id: subject.agent_id,
      session_id: dropBlankName(input.session_id),
      definitions,
    };
    const before = await findSnapshotEvent(db, snapshot, now_ms);
    const known = before === null ? null : await readPinStatuses(db, scope, definitions);
    if (before !== null && known !== null) return { event_id: before, tools: known };
    const content: Content = { kind: 'json', value: [...definitions, ...joinTexts(definitions)] };
    const acting = {
      ...subject,
      session_id: dropBlankName(input.session_id),
      source_agent_id: null,
      declared_tags: ['untrusted.mcp'],
      now_ms,
    };
    const { verdict, event_id } = await runtime.enforce(
      buildTextCrossing('input', acting, content, { tool: 'tools/list' }),
      caller,
      'scan_structured',
    );
    const whole = findListReason(verdict);
    // A fault, or a problem of the whole list, says nothing about a single tool, so no pin changes.
    if (whole !== null) return { event_id, tools: definitions.map((one) => buildQuarantine(one, whole)) };
    const problemOf = openProblemFinder(verdict, definitions.length);
    const redacted = redactList(content, verdict, runtime.policy().redaction.typed, definitions.length);
    const list = definitions.map((definition, at): ListedTool => {
      const masked = redacted[at]!;
      const problem = problemOf(at) ?? (masked.name === definition.name ? null : NAME_FOUND);
      return { definition, redacted: masked, problem };
    });
    const sightings = await compareWithPins(db, scope, list, now_ms);
    for (const one of sightings.filter(({ is_new_quarantine }) => is_new_quarantine))
      await recordQuarantine(one, scope, subject.agent_id, context);
    if (verdict.policy_hash === snapshot.policy_hash) await storeSnapshot(db, snapshot, event_id, now_ms);
    return { event_id, tools: sightings.map(({ is_new_quarantine: _is_news, ...shown }) => shown) };
  },
});

/** Tags of findings that keep a definition hidden from agents until an operator approves it. */
const FORBIDDEN = /^(?:injection|hidden|content\.hidden_text)(?:\.|$)/;

/**
 * Returns the reason to quarantine every tool of a list, whatever its definition; `null` if the tools are checked one
 * by one.
 */
function findListReason(verdict: Verdict): string | null {
  if (verdict.fault) return 'The list could not be checked. Try again.';
  if (verdict.decision !== 'block' || verdict.coverage.status !== 'full') return null;
  const is_one_tools = verdict.findings.some(
    ({ rule, action }) => rule === verdict.rule && action === 'block',
  );
  return is_one_tools ? null : `The policy lets no list of this server in (rule ${verdict.rule}).`;
}

function buildQuarantine(definition: { readonly [name: string]: Json }, reason: string) {
  return {
    tool: maskToolName(definition),
    status: 'quarantined' as const,
    sha256: hashJson(definition),
    reason,
  };
}

const NAME_FOUND = 'Its name holds what no name should.';
/**
 * The text that two neighbouring definitions each contribute to their joined text, in UTF-16 units. No detected
 * sentence is longer.
 */
const WINDOW_UNITS = 2_048;

/**
 * Returns the texts of each definition as a client may show them, then the joined texts of each two neighbours. A
 * sentence that was split over two definitions is complete in one of them.
 */
function joinTexts(definitions: readonly { readonly [name: string]: Json }[]): string[] {
  const texts = definitions.map((definition) => {
    const all: string[] = [];
    for (const key of ['title', 'description']) {
      const stated = definition[key];
      if (typeof stated === 'string') all.push(stated);
    }
    walkJson(definition, UNLIMITED_WALK, ({ kind, text: stated }) => {
      if (kind === 'string') all.push(stated);
    });
    return all.join('\n');
  });
  const pairs = texts
    .slice(1)
    .map((next, at) => `${texts[at]!.slice(-WINDOW_UNITS)}\n${next.slice(0, WINDOW_UNITS)}`);
  return [...texts, ...pairs];
}

/** Returns the definitions with everything masked that a rule redacts, even if the list as a whole is blocked. */
function redactList(
  content: Content,
  { findings }: Verdict,
  typed: boolean,
  count: number,
): readonly { readonly [name: string]: Json }[] {
  const masked = findings.filter(({ action }) => action === 'redact');
  const changed = redact(content, masked, typed) as { readonly value: Json };
  return (changed.value as readonly { readonly [name: string]: Json }[]).slice(0, count);
}

/**
 * Returns a function that describes the problem of the definition at an index. The description contains no text of the
 * definition.
 */
function openProblemFinder(verdict: Verdict, count: number): (at: number) => string | null {
  if (verdict.coverage.status !== 'full') return () => 'The list could be scanned only in part.';
  const found = Map.groupBy(verdict.findings.filter(isForbidden), ({ path }) =>
    Number(/^\$\[(\d+)\]/.exec(path ?? '')?.[1] ?? Number.NaN),
  );
  const alone = (at: number) => (found.get(at) ?? found.get(count + at))?.[0] ?? null;
  /** A finding across the border of two definitions, and in neither of them alone, applies to both. */
  const between = (at: number) =>
    at < 0 || at >= count - 1 || alone(at) !== null || alone(at + 1) !== null
      ? null
      : (found.get(2 * count + at)?.[0] ?? null);
  return (at) => {
    const first = alone(at) ?? between(at - 1) ?? between(at);
    return first === null ? null : `Its definition holds what no definition should: \`${first.detector}\`.`;
  };
}

function isForbidden({ tags, severity, action }: JudgedFinding): boolean {
  if (action === 'block') return true;
  return severity !== 'low' && tags.some((tag) => FORBIDDEN.test(tag));
}

async function recordQuarantine(
  one: ToolPinStatus,
  scope: PinScope,
  agent_id: string,
  context: Context,
): Promise<void> {
  const { runtime, caller } = context;
  const now_ms = runtime.now_ms();
  await runtime.note(
    buildServiceEvent({
      event_id: createEventId(now_ms),
      now_ms,
      phase: 'mcp_tool_quarantined',
      done: false,
      reason: `A tool of an MCP server is held back. ${one.reason}`,
      caller_id: caller.id,
      policy_hash: runtime.policy().hash,
      about: { tenant_id: scope.tenant_id, agent_id, tool_name: one.tool },
      metadata: { mcp_server: scope.server, sha256: one.sha256, user_id: scope.user_id },
    }),
  );
}

const pinSchema = {
  type: 'object',
  required: [
    'server',
    'user_id',
    'tool',
    'status',
    'pinned_sha256',
    'quarantined_sha256',
    'quarantined_reason',
  ],
  properties: {
    tenant_id: { type: 'string' },
    server: { type: 'string' },
    user_id: { type: 'string' },
    tool: { type: 'string' },
    status: {
      enum: ['pinned', 'quarantined'],
      description: '`quarantined`: a new definition waits for approval.',
    },
    pinned_sha256: text,
    pinned_definition: { type: ['object', 'null'], description: 'The definition that agents see.' },
    quarantined_sha256: text,
    quarantined_definition: {
      type: ['object', 'null'],
      description: 'The definition that waits for approval. It is untrusted text.',
    },
    quarantined_reason: text,
    approved_by: text,
    first_seen_at: { type: 'string' },
    changed_at: { type: 'string' },
  },
} as const;

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
    examples: [['service mcp pins list --json', '']],
  },
  permission: 'approvals:read',
  whole_service: true,
  needs: 'store',
  input: {
    type: 'object',
    properties: { server: name, tool: name, tenant_id: tenantId },
  },
  output: {
    type: 'object',
    required: ['pins', 'count'],
    properties: { pins: { type: 'array', items: pinSchema }, count: { type: 'integer' } },
  },
  example: { server: 'files' },
  answer: { pins: [], count: 0 },
  async run(input, context) {
    const { db } = await context.runtime.store();
    const one = dropBlankName(input.tenant_id) ?? dropBlankName(context.tenant_id);
    const tenant_ids = one === null ? context.caller.tenants : [resolveTenant(input, context)];
    const rows = await listPins(db, {
      tenant_ids,
      server: dropBlankName(input.server),
      tool: dropBlankName(input.tool),
    });
    return { pins: rows.map(buildPinReply), count: rows.length };
  },
});

export const mcpPinsApprove = defineOperation({
  name: 'mcp_pins_approve',
  summary: 'Approve a quarantined definition of a tool',
  description:
    'Pins the definition that waits, if it is still the one whose hash is given: what was seen is what is approved. Needs a person.',
  http: { method: 'POST', path: '/v1/mcp/pins/approve' },
  cli: {
    verb: 'mcp pins approve',
    arguments: ['server', 'tool'],
    options: ['sha256', 'user_id'],
    line: ({ server, tool }: { readonly server: string; readonly tool: string }) =>
      `Approved: agents see ${tool} of ${server} with their next list.`,
    examples: [['service mcp pins approve files read_file --sha256 sha256:1f0c...', '']],
  },
  permission: 'approvals:decide',
  whole_service: true,
  needs: 'store',
  input: {
    type: 'object',
    required: ['server', 'tool', 'sha256'],
    properties: { server, tool: toolName, sha256: hash, user_id: userId, tenant_id: tenantId },
  },
  output: pinSchema,
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
    status: 'pinned',
    pinned_definition: { description: 'Reads a file.', inputSchema: { type: 'object' }, name: 'read_file' },
    quarantined_definition: null,
    first_seen_at: '2026-01-31T12:00:00.000Z',
    changed_at: '2026-01-31T12:00:05.000Z',
  },
  refusals: ['conflict'],
  async run(input, context) {
    const { caller, runtime } = context;
    if (caller.kind !== 'person') throw new Refusal('forbidden', 'Only a person’s credential decides.');
    const scope = {
      tenant_id: resolveTenant({ tenant_id: input.tenant_id }, context),
      server: input.server,
      user_id: dropBlankName(input.user_id) ?? '',
    };
    const now_ms = runtime.now_ms();
    // The event is recorded before the store changes, so every approval in the store is in the audit log.
    await runtime.note(
      buildServiceEvent({
        event_id: createEventId(now_ms),
        now_ms,
        phase: 'mcp_pin_approve',
        done: true,
        reason: 'A person lets a definition of a tool through.',
        caller_id: caller.id,
        policy_hash: runtime.policy().hash,
        about: { tenant_id: scope.tenant_id, tool_name: input.tool },
        metadata: { mcp_server: scope.server, sha256: input.sha256, user_id: scope.user_id },
      }),
    );
    const { db } = await runtime.store();
    const row = await approvePin(db, scope, input.tool, input.sha256, caller.id, now_ms);
    if (row === null)
      throw new Refusal(
        'conflict',
        'No definition with this hash is held back: see what is, and approve that.',
      );
    return buildPinReply(row);
  },
});

function buildPinReply(row: PinRow) {
  const { pinned_definition, quarantined_definition, first_seen_ms, changed_ms, ...rest } = row;
  const read = (json: string | null) => (json === null ? null : (JSON.parse(json) as object));
  return {
    ...rest,
    status: row.quarantined_sha256 === null ? ('pinned' as const) : ('quarantined' as const),
    pinned_definition: read(pinned_definition),
    quarantined_definition: read(quarantined_definition),
    first_seen_at: new Date(Number(first_seen_ms)).toISOString(),
    changed_at: new Date(Number(changed_ms)).toISOString(),
  };
}

import { redact } from '../../core/decision/redact.ts';
import { UNLIMITED_WALK, walkJson } from '../../core/json/walk.ts';
import { hashJson } from '../../core/policy/compile/canonical-json.ts';
import { Type } from '../../core/schema.ts';
import type { Content, Json, JudgedFinding, Verdict } from '../../core/types/index.ts';
import { checkBody } from '../../operations/check-body.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import { agentId, name, PRINTABLE_TEXT, sessionId, tenantId } from '../../operations/shapes.ts';
import { dropBlankName, resolveSubject } from '../../operations/subject.ts';
import { hashText } from '../../platform/hash-text.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import { buildTextCrossing } from '../../runtime/enforcement/crossings.ts';
import {
  compareWithPins,
  type ListedTool,
  maskToolName,
  type PinScope,
  readPinStatuses,
  type ToolPinStatus,
} from './pins.ts';
import { steersAgent } from './steering.ts';
import { findSnapshotEvent, storeSnapshot, type ToolListSnapshot } from './tool-list-snapshots.ts';

const server = Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT });
const userId = {
  ...name,
  description: 'The user of the list, if the server shows users different ones.',
} as const;
const text = Type.Nullable(Type.String());

export const mcpToolsCheck = defineOperation({
  name: 'mcp_tools_check',
  summary: 'Check the tools that an MCP server lists',
  description:
    'Scans tool definitions for hidden instructions, compares each with the pinned one, and returns which tools may be shown to an agent. A definition is pinned when it is first seen. Changed and suspicious definitions are held back until an operator approves them. An unchanged list is only compared and writes no further event.',
  http: { method: 'POST', path: '/v1/mcp/tools/check' },
  permission: 'check',
  needs: 'store',
  check_body: {},
  input: checkBody(
    Type.Object({
      server: { ...server, description: 'The name of the server in this service.' },
      user_id: Type.Optional(userId),
      agent_id: Type.Optional(agentId),
      tenant_id: Type.Optional(tenantId),
      session_id: Type.Optional(sessionId),
      tools: Type.Array(Type.Unsafe<object>({ type: 'object' }), {
        maxItems: 1_000,
        description: 'The definitions, just as the server lists them; the whole list.',
      }),
    }),
  ),
  output: Type.Object({
    event_id: Type.String({ description: 'The audit event of the check.' }),
    tools: Type.Array(
      Type.Object({
        tool: Type.String(),
        status: Type.Enum(['pinned', 'quarantined'], {
          description: '`quarantined`: not to be shown or called.',
        }),
        sha256: Type.String({ description: 'Of the canonical definition (RFC 8785).' }),
        reason: text,
        definition: Type.Optional(
          Type.Unsafe<object>({
            type: 'object',
            description: 'The definition to show instead; only if something in it was redacted.',
          }),
        ),
      }),
    ),
  }),
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
    const nowMs = runtime.now_ms();
    const { db } = await runtime.store();
    const snapshot: ToolListSnapshot = {
      version: runtime.version,
      policy_hash: runtime.policy().hash,
      ...scope,
      agent_id: subject.agent_id,
      session_id: dropBlankName(input.session_id),
      definitions,
    };
    const before = await findSnapshotEvent(db, snapshot, nowMs);
    const known = before === null ? null : await readPinStatuses(db, scope, definitions);
    if (before !== null && known !== null) return { event_id: before, tools: known };
    const texts = joinTexts(definitions);
    const content: Content = { kind: 'json', value: [...definitions, ...texts] };
    const acting = {
      ...subject,
      session_id: dropBlankName(input.session_id),
      source_agent_id: null,
      // The first one is the label of the values.
      declared_tags: ['untrusted.tools', 'untrusted.mcp'],
      now_ms: nowMs,
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
      const steers = steersAgent(texts[at]!) ? STEERS : null;
      const problem = problemOf(at) ?? steers ?? (masked.name === definition.name ? null : NAME_FOUND);
      return { definition, redacted: masked, problem };
    });
    const sightings = await compareWithPins(db, scope, list, nowMs);
    for (const one of sightings.filter(({ is_new_quarantine }) => is_new_quarantine))
      await recordQuarantine(one, scope, subject.agent_id, context);
    if (verdict.policy_hash === snapshot.policy_hash) await storeSnapshot(db, snapshot, event_id, nowMs);
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
  const isOneTools = verdict.findings.some(({ rule, action }) => rule === verdict.rule && action === 'block');
  return isOneTools ? null : `The policy lets no list of this server in (rule ${verdict.rule}).`;
}

function buildQuarantine(definition: { readonly [name: string]: Json }, reason: string) {
  return {
    tool: maskToolName(definition),
    status: 'quarantined' as const,
    sha256: hashJson(definition, hashText),
    reason,
  };
}

const NAME_FOUND = 'Its name holds what no name should.';
const STEERS = 'Its definition steers the agent in its use of other tools, files or the user.';
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
  agent: string,
  context: Context,
): Promise<void> {
  const { runtime, caller } = context;
  const nowMs = runtime.now_ms();
  await runtime.note(
    buildServiceEvent({
      event_id: createEventId(nowMs),
      now_ms: nowMs,
      phase: 'mcp_tool_quarantined',
      done: false,
      reason: `A tool of an MCP server is held back. ${one.reason}`,
      caller_id: caller.id,
      policy_hash: runtime.policy().hash,
      about: { tenant_id: scope.tenant_id, agent_id: agent, tool_name: one.tool },
      metadata: { mcp_server: scope.server, sha256: one.sha256, user_id: scope.user_id },
    }),
  );
}

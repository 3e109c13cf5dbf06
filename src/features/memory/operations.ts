import { Type } from '../../core/schema.ts';
import { readContentMember, readContentValue } from '../../operations/check.ts';
import { checkBody } from '../../operations/check-body.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildVerdictReply } from '../../operations/reply.ts';
import {
  agentId,
  dataTags,
  name,
  PRINTABLE_TEXT,
  sessionId,
  tenantId,
  verdictProperties,
  whoContext,
} from '../../operations/shapes.ts';
import {
  dropBlankName,
  readSessionId,
  readUserId,
  resolveSubject,
  type SubjectFields,
} from '../../operations/subject.ts';
import { memoryEntrySchema } from './entry-metadata.ts';
import type { MemoryReadResult } from './types.ts';

const owner = {
  agent_id: Type.Optional({ ...agentId, description: `${agentId.description} Its memory is its own.` }),
  tenant_id: Type.Optional(tenantId),
  session_id: Type.Optional({
    ...sessionId,
    description: 'The session; memory of scope `session` belongs to it.',
  }),
  user_id: Type.Optional({ ...name, description: 'The user; memory of scope `user` belongs to them.' }),
  context: Type.Optional(whoContext),
  source_agent_id: Type.Optional({
    ...name,
    description: 'The agent that acts: the agent itself, if given.',
  }),
  destination_agent_id: Type.Optional({ ...name, description: 'The target of the action; recorded.' }),
} as const;

const memory = {
  ...name,
  description: 'The memory document; without it the first of the tenant that has the key.',
} as const;

export const memoryWrite = defineOperation({
  name: 'memory_write',
  summary: 'Write a value to an agent’s memory',
  description:
    'Judges a value as the arguments of a call to `memory.write`, and keeps it, encrypted, as the field of a memory document says. It takes the place of the value before. On `modify` what was kept is `modified_value`.',
  http: { method: 'POST', path: '/v1/memory/write' },
  permission: 'memory:use',
  counts_checks: true,
  needs: 'store',
  check_body: {},
  input: checkBody(
    Type.Object({
      key: Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }),
      value: Type.Unknown({ description: 'Any JSON value of the field’s type.' }),
      memory: Type.Optional(memory),
      ...owner,
      data_tags: Type.Optional(dataTags),
    }),
  ),
  output: Type.Object({
    ...verdictProperties,
    allowed: Type.Boolean({ description: '`true` if the value is stored.' }),
    handle_id: Type.Optional(Type.String({ description: 'A handle for the value; only if it was stored.' })),
    expires_at: Type.Optional(Type.String({ description: 'When the entry expires.' })),
    modified_value: Type.Optional(
      Type.Unknown({ description: 'The stored value; only if the policy changed it.' }),
    ),
  }),
  example: {
    key: 'user_preference',
    value: 'A spot at the window.',
    agent_id: 'support-bot',
    session_id: 'sess-1',
  },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    allowed: true,
    handle_id: 'hdl_0123456789abcdef0123456789abcdef',
    expires_at: '2026-03-02T12:00:00.000Z',
  },
  async run(input, context) {
    const subject = readMemorySubject(input, context);
    const store = await context.runtime.memory();
    const {
      ruling,
      entry: kept,
      changed,
    } = await store.write(subject, context.caller, {
      key: input.key,
      ...readValue(input, context),
      schema: dropBlankName(input.memory),
      declared_tags: (input.data_tags ?? []).map((tag) => tag.toLowerCase()),
    });
    return {
      ...buildVerdictReply(ruling),
      allowed: kept !== null,
      ...(kept !== null && { handle_id: kept.entry_id, expires_at: formatTime(kept.expires_at_ms) }),
      ...(changed !== null && { modified_value: readContentValue(changed) }),
    };
  },
});

function readValue(input: { readonly value: unknown }, context: Context) {
  const content = readContentMember(input, 'value', context);
  return content.kind === 'text'
    ? { value: content.text }
    : { value: content.value, ...(content.source !== undefined && { source: content.source }) };
}

const readProperties = {
  ...verdictProperties,
  value: Type.Unknown({ description: 'The value; `null` where none is given.' }),
} as const;

export const memoryRead = defineOperation({
  name: 'memory_read',
  summary: 'Read an agent’s memory',
  description:
    'With a `key`, returns its value; if the field is `encrypted`, returns a handle instead. Without one, lists the entries without values. The returned value is checked as the result of `memory.read`.',
  http: { method: 'POST', path: '/v1/memory/read' },
  permission: 'memory:use',
  counts_checks: true,
  needs: 'store',
  check_body: {},
  input: checkBody(
    Type.Object({
      key: Type.Optional({ ...name, description: 'The field; without it all are listed.' }),
      memory: Type.Optional(memory),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000, description: 'Entries at most; 100 without it.' }),
      ),
      ...owner,
    }),
  ),
  output: Type.Object({
    ...readProperties,
    found: Type.Boolean({ description: '`true` if there is a value that may be read.' }),
    entries: Type.Array(memoryEntrySchema, { description: 'The entries, without values.' }),
    missing: Type.Array(Type.String(), {
      description: 'Keys that a document requires and that have no value.',
    }),
    truncated: Type.Optional(Type.Boolean({ description: 'There are more than `limit`; only when so.' })),
  }),
  example: { key: 'user_preference', agent_id: 'support-bot', session_id: 'sess-1' },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    found: true,
    value: 'A spot at the window.',
    entries: [
      {
        key: 'user_preference',
        memory: 'session-memory',
        scope: 'session',
        type: 'string',
        tag: 'internal',
        data_tags: ['internal'],
        encrypted: false,
        handle_id: 'hdl_0123456789abcdef0123456789abcdef',
        value_bytes: 23,
        created_at: '2026-01-31T12:00:00.000Z',
        expires_at: '2026-03-02T12:00:00.000Z',
      },
    ],
    missing: [],
  },
  async run(input, context) {
    const subject = readMemorySubject(input, context);
    const store = await context.runtime.memory();
    const key = dropBlankName(input.key);
    const schema = dropBlankName(input.memory);
    const out =
      key === null
        ? await store.list(subject, context.caller, schema, input.limit ?? LIMIT_DEFAULT)
        : await store.readKey(subject, context.caller, key, schema);
    return {
      ...replyWithValue(out),
      found: out.entries.length > 0,
      entries: out.entries,
      missing: [...out.missing],
      ...(out.truncated && { truncated: true }),
    };
  },
});

const LIMIT_DEFAULT = 100;

export const memoryResolveHandle = defineOperation({
  name: 'memory_resolve_handle',
  summary: 'Resolve a memory handle',
  description:
    'Gives the value that a handle stands for to its owner alone, as far as the policy lets the result of `memory.resolve_handle` be. A handle of another owner is answered as one that does not exist.',
  http: { method: 'POST', path: '/v1/memory/resolve-handle' },
  permission: 'memory:use',
  counts_checks: true,
  needs: 'store',
  check_body: {},
  input: checkBody(Type.Object({ handle_id: Type.String({ minLength: 1, maxLength: 256 }), ...owner })),
  output: Type.Object(readProperties),
  example: {
    handle_id: 'hdl_0123456789abcdef0123456789abcdef',
    agent_id: 'support-bot',
    session_id: 'sess-1',
  },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    value: 'A spot at the window.',
  },
  async run(input, context) {
    const subject = readMemorySubject(input, context);
    const store = await context.runtime.memory();
    return replyWithValue(await store.resolve(subject, context.caller, input.handle_id));
  },
});

export const memoryPurgeExpired = defineOperation({
  name: 'memory_purge_expired',
  summary: 'Delete expired memory entries',
  description:
    'Deletes the entries of all agents whose retention is over. They are not given out any more in any case, and the service deletes them by itself every minute.',
  http: { method: 'POST', path: '/v1/memory/purge-expired' },
  permission: 'memory:purge',
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({ purged: Type.Integer({ description: 'Number of deleted entries.' }) }),
  example: {},
  answer: { purged: 0 },
  async run(_input, { runtime, caller }) {
    const store = await runtime.memory();
    return { purged: await store.purge(caller) };
  },
});

interface MemorySubjectInput extends SubjectFields {
  readonly user_id?: string | null;
  readonly destination_agent_id?: string | null;
}

/**
 * Returns the memory's owner: the agent that the credential proves, or in sidecar mode the agent that the request
 * names.
 */
function readMemorySubject(input: MemorySubjectInput, context: Context) {
  if (context.runtime.mode === 'gateway' && context.caller.kind === 'anonymous') {
    throw new Refusal(
      'unauthenticated',
      'Memory needs a credential in gateway mode: it proves whose memory it is. Send it as `Authorization: Bearer` or `x-service-key`.',
    );
  }
  const subject = resolveSubject(input, context);
  if (subject.source_agent_id !== null && subject.source_agent_id !== subject.agent_id) {
    throw new Refusal(
      'forbidden',
      'An agent’s memory is for that agent alone: `source_agent_id` must be the same as `agent_id`.',
    );
  }
  return {
    ...subject,
    session_id: readSessionId(input),
    user_id: readUserId(input),
    destination_agent_id: dropBlankName(input.destination_agent_id),
  };
}

function replyWithValue({ ruling, value }: MemoryReadResult) {
  return { ...buildVerdictReply(ruling), value };
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}

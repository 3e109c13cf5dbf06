/** Builds call contexts with a journal in memory, and answers of providers, for tests of guards. */
import { buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Policy } from '../../../core/types/index.ts';
import { wireFormats } from '../../../core/wire/formats/index.ts';
import type { WireName } from '../../../core/wire/wire-format.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import type { EnforcementPorts } from '../../../runtime/enforcement/types.ts';
import { buildExamplePorts, caller } from '../../../server/testing/examples.ts';
import type { UpstreamAnswer } from '../../upstream/types.ts';
import type { LlmCall, LlmCallContext, LlmSettings } from '../llm-call.ts';
import { openResultCache, type ResultCache } from '../result-cache.ts';

/** The parts of a call context that a test replaces. */
export interface CallContextOptions {
  readonly wire?: WireName;
  readonly policy?: Policy;
  readonly body?: unknown;
  readonly call?: Partial<LlmCall>;
  readonly ports?: Partial<EnforcementPorts>;
  readonly settings?: Partial<LlmSettings>;
  readonly known_results?: ResultCache;
}

/** A call context with its audit events. */
export interface TestCallContext {
  readonly call_context: LlmCallContext;
  /** All audit events, oldest first. */
  readonly events: AuditEvent[];
}

/** The built-in rules only. */
const PLAIN = buildTestPolicy();

/** Builds a guarded call with a compiled policy, the real judge, and an array as journal. */
export function buildCallContext(options: CallContextOptions = {}): TestCallContext {
  const events: AuditEvent[] = [];
  const { wire = 'openai.chat', body = {} } = options;
  const format = wireFormats.find(({ name }) => name === wire);
  if (format === undefined) throw new Error(`there is no format ${wire}`);
  const call: LlmCall = {
    format,
    path: '/v1/chat/completions',
    headers: [],
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    in_path: null,
    acting: {
      tenant_id: 'default',
      agent_id: 'agent-1',
      source_agent_id: 'agent-1',
      session_id: 'session-1',
      declared_tags: [],
      now_ms: Date.UTC(2026, 10, 21, 12),
    },
    user_id: null,
    caller,
    request_id: 'req_1',
    approval_request_id: null,
    capability_token: null,
    signal: new AbortController().signal,
    describeDenial: ({ verdict, approval }) => ({
      status: 400,
      code: 'policy_violation',
      message: verdict.reason,
      request_id: 'req_1',
      extra: { decision: verdict.decision, rule: verdict.rule, approval },
    }),
    ...options.call,
  };
  const policy = options.policy ?? PLAIN;
  const callContext: LlmCallContext = {
    call,
    ports: buildExamplePorts(events, { policy, ...options.ports }),
    presentCapability: () => Promise.reject(new Error('This test has no capabilities.')),
    result_cache: options.known_results ?? openResultCache(0),
    settings: { mode: 'mask', response_bytes_max: 1_000_000, held_units_max: 100_000, ...options.settings },
  };
  return { call_context: callContext, events };
}

/** Builds an answer whose body arrives in these chunks. `ends` records how reading it ended. */
export function buildUpstreamAnswer(
  chunks: readonly (string | Uint8Array)[],
  fault?: Error,
): UpstreamAnswer & { ends: string[] } {
  const ends: string[] = [];
  async function* streamBody(): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (fault !== undefined) throw fault;
      ends.push('read');
    } finally {
      ends.push('left');
    }
  }
  return {
    status: 200,
    headers: ['content-type', 'text/event-stream'],
    body: streamBody(),
    provider: 'test',
    model: 'm-1',
    attempts: 1,
    ends,
  };
}

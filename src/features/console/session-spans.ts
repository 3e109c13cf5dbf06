import type { AuditEvent } from '../../runtime/audit/types.ts';

export const SPAN_KINDS = ['model_call', 'tool_call', 'message', 'memory', 'check', 'change'] as const;

/** One step of a session: a call with its answer, or a single check. */
export interface SessionSpan {
  event_id: string;
  kind: (typeof SPAN_KINDS)[number];
  name: string;
  agent_id: string;
  start: string;
  end: string | null;
  duration_ms: number | null;
  end_event_id: string | null;
  decision: string;
  action: string;
  rule: string;
  end_decision: string | null;
  data_tags: string[];
  session_tags: string[];
  new_tags: string[];
  /** Tokens and cost of a model call; `null` if the provider reported none. Cost in millionths of a US dollar. */
  input_tokens: number | null;
  output_tokens: number | null;
  micro_usd: number | null;
}

/**
 * Builds the steps of a session from its events, oldest first. An answer ends the oldest open call of the same agent
 * to the same tool or model; an answer without a call is a step of its own.
 */
export function buildSpans(events: readonly AuditEvent[]): { spans: SessionSpan[]; taint_tags: string[] } {
  const spans: SessionSpan[] = [];
  const open = new Map<string, SessionSpan[]>();
  const seenTags = new Set<string>();
  let taintTags: string[] = [];
  for (const event of events) {
    const sessionTags = readTags(event);
    const newTags = sessionTags.filter((tag) => !seenTags.has(tag));
    for (const tag of newTags) seenTags.add(tag);
    if (sessionTags.length > 0) taintTags = sessionTags;
    const call = isAnswer(event) ? open.get(getKey(event))?.shift() : undefined;
    if (call === undefined) {
      const span = createSpan(event, sessionTags, newTags);
      spans.push(span);
      if (isCall(event)) open.set(getKey(event), [...(open.get(getKey(event)) ?? []), span]);
    } else {
      endSpan(call, event, newTags);
    }
  }
  return { spans, taint_tags: taintTags };
}

function createSpan(event: AuditEvent, sessionTags: string[], newTags: string[]): SessionSpan {
  return {
    event_id: event.event_id,
    kind: getKind(event),
    name: getName(event),
    agent_id: event.agent_id,
    start: event.timestamp,
    end: null,
    duration_ms: null,
    end_event_id: null,
    decision: event.decision,
    action: event.action,
    rule: event.policy_name,
    end_decision: null,
    data_tags: [...event.data_tags],
    session_tags: sessionTags,
    new_tags: newTags,
    ...readCallUsage(event),
  };
}

function readCallUsage({
  metadata,
}: AuditEvent): Pick<SessionSpan, 'input_tokens' | 'output_tokens' | 'micro_usd'> {
  const { input_tokens, output_tokens, micro_usd } = metadata;
  const read = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : null);
  return { input_tokens: read(input_tokens), output_tokens: read(output_tokens), micro_usd: read(micro_usd) };
}

function endSpan(span: SessionSpan, event: AuditEvent, newTags: readonly string[]): void {
  span.end = event.timestamp;
  span.duration_ms = Date.parse(event.timestamp) - Date.parse(span.start);
  span.end_event_id = event.event_id;
  span.end_decision = event.decision;
  Object.assign(span, readCallUsage(event));
  span.data_tags = [...new Set([...span.data_tags, ...event.data_tags])];
  span.new_tags = [...new Set([...span.new_tags, ...newTags])];
}

function getKind({ boundary, tool_name, metadata }: AuditEvent): SessionSpan['kind'] {
  if (boundary === 'memory') return 'memory';
  if (metadata.phase === 'message') return 'message';
  if (boundary === 'action') return tool_name === null ? 'change' : 'tool_call';
  return isModel(metadata) ? 'model_call' : 'check';
}

function isModel({ endpoint, wire }: AuditEvent['metadata']): boolean {
  return typeof wire === 'string' || endpoint === 'llm_request' || endpoint === 'llm_response';
}

function getName({ tool_name, boundary, metadata }: AuditEvent): string {
  return tool_name ?? (typeof metadata.model === 'string' ? metadata.model : boundary);
}

/** A blocked call has no answer. */
function isCall(event: AuditEvent): boolean {
  if (event.decision === 'block') return false;
  const kind = getKind(event);
  if (kind === 'tool_call') return event.metadata.phase === 'request';
  return (kind === 'model_call' || kind === 'check') && event.boundary === 'input';
}

function isAnswer(event: AuditEvent): boolean {
  const kind = getKind(event);
  if (kind === 'tool_call') return event.metadata.phase === 'response';
  return (kind === 'model_call' || kind === 'check') && event.boundary === 'output';
}

function getKey(event: AuditEvent): string {
  const kind = getKind(event);
  return JSON.stringify([kind, event.tenant_id, event.agent_id, kind === 'tool_call' ? event.tool_name : '']);
}

function readTags({ metadata }: AuditEvent): string[] {
  return Array.isArray(metadata.session_tags) ? [...(metadata.session_tags as readonly string[])] : [];
}

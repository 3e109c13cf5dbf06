import type { Json } from '../../../core/types.ts';
import { jsonReply, nameAt, SILENCE, textAt, toolAt, Unreadable } from '../payload.ts';
import type { Dialect, HookAnswer, HookCheck, HookEvent, HookReply, Payload } from './dialect.ts';

const SHELL =
  /^(?:bash|sh|shell|zsh|powershell|pwsh|terminal|run_command|run_shell_command|execute_command)$/i;

/** The protocol of one's own: a JSON action in, a JSON decision out, always with exit code 0. */
export const plain: Dialect = {
  name: 'plain',
  agent_id: 'unknown',
  recognises: () => false,
  eventOf,
  subjectOf: (payload) => {
    const context = contextOf(payload);
    return {
      agent_id: nameAt(payload, 'agent_id'),
      session_id: nameAt(payload, 'session_id') ?? nameAt(context, 'session_id'),
      tenant_id: nameAt(payload, 'tenant_id') ?? nameAt(context, 'tenant_id'),
      tool_use_id: nameAt(payload, 'tool_use_id'),
      approval_request_id: nameAt(payload, 'approval_request_id'),
    };
  },
  events: {
    post_tool_use: { checks: resultOf, deny: (reason, payload) => refuse(reason, payload) },
    pre_tool_use: { checks: callOf, deny: (reason, payload) => refuse(reason, payload) },
    prompt: prompted(),
  },
  silent: [],
  pass: SILENCE,
  refuse,
  tell,
};

/** The event is said, or follows from what is there. */
function eventOf(payload: Payload, asked: string | null): string | null {
  const said = asked ?? nameAt(payload, 'event') ?? nameAt(payload, 'phase');
  if (said !== null) return EVENTS.get(said) ?? said;
  if (payload.tool === undefined && payload.tool_name === undefined) {
    return typeof (payload.text ?? payload.prompt) === 'string' ? 'prompt' : null;
  }
  return payload.output === undefined && payload.tool_output === undefined ? 'pre_tool_use' : 'post_tool_use';
}

const EVENTS: ReadonlyMap<string, string> = new Map([
  ['request', 'pre_tool_use'],
  ['response', 'post_tool_use'],
]);

function prompted(): HookEvent {
  return {
    checks: (payload) => [
      { kind: 'prompt', text: textAt(payload, payload.text === undefined ? 'prompt' : 'text') },
    ],
    deny: (reason, payload) => refuse(reason, payload),
  };
}

function callOf(payload: Payload): readonly HookCheck[] {
  const tool = toolOf(payload);
  const input = (payload.input ?? payload.tool_input ?? {}) as Json;
  return [
    { kind: 'call', tool, input: typeof input === 'string' && SHELL.test(tool) ? { command: input } : input },
  ];
}

function resultOf(payload: Payload): readonly HookCheck[] {
  const output = (payload.output ?? payload.tool_output) as Json | undefined;
  if (output === undefined) throw new Unreadable('`output` is missing');
  return [{ kind: 'result', tool: toolOf(payload), output }];
}

function toolOf(payload: Payload): string {
  return toolAt(payload, payload.tool === undefined ? 'tool_name' : 'tool');
}

function contextOf({ context }: Payload): Payload {
  return typeof context === 'object' && context !== null ? (context as Payload) : {};
}

const CHANGED: Readonly<Record<string, string>> = {
  post_tool_use: 'modified_output',
  pre_tool_use: 'modified_input',
  prompt: 'modified_text',
};

function tell(answer: HookAnswer, payload: Payload, now_ms: number): HookReply {
  const { decision, action, rule, reason, event_id, violations, coverage, approval, changed } = answer;
  const event = safely(() => eventOf(payload, null));
  return jsonReply({
    decision,
    tool: safely(() => toolOf(payload)),
    agent_id: safely(() => nameAt(payload, 'agent_id')) ?? plain.agent_id,
    timestamp: new Date(now_ms).toISOString(),
    action,
    rule,
    reason,
    violations,
    coverage,
    event_id,
    ...(approval !== null && { approval }),
    ...(changed !== null && event !== null && { [CHANGED[event] ?? 'modified_input']: changed }),
  });
}

/** What a refusal repeats of a payload is what could be read. */
function safely(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function refuse(reason: string, payload: Payload = {}): HookReply {
  return tell(refusal(reason), payload, Date.now());
}

function refusal(reason: string): HookAnswer {
  return {
    decision: 'block',
    action: 'block',
    rule: 'hook.refused',
    reason,
    event_id: null,
    violations: [],
    coverage: 'full',
    approval: null,
    one_may_agree: false,
    changed: null,
  };
}

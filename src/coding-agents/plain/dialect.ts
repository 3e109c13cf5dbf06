import { describePendingApproval } from '../../core/decision/deciding-documents.ts';
import type { Json } from '../../core/types/index.ts';
import { readCheckBody } from '../../operations/check-body.ts';
import type { Dialect, HookAnswer, HookCheck, HookEvent, HookReply, Payload } from '../record/dialect.ts';
import {
  EMPTY_REPLY,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readToolName,
  replyWithJson,
  UnreadablePayload,
} from '../record/payload.ts';

const SHELL =
  /^(?:bash|sh|shell|zsh|powershell|pwsh|terminal|run_command|run_shell_command|execute_command)$/i;

const value = {};
const members = {
  properties: { agent_id: value, session_id: value, tenant_id: value, tool: value, metadata: value },
};

/** The members of an action. Other members are refused, because no rule would evaluate them. */
const ACTION = {
  properties: {
    agent_id: value,
    approval_request_id: value,
    context: members,
    event: value,
    input: value,
    metadata: value,
    output: value,
    phase: value,
    session_id: value,
    tenant_id: value,
    text: value,
    tool: value,
    tool_use_id: value,
  },
};

const ALIASES = {
  tool: ['tool_name'],
  input: ['arguments', 'args', 'parameters', 'params', 'tool_input'],
  output: ['tool_output', 'tool_response'],
  text: ['prompt'],
};

/** Returns the action with every member under its canonical name. @throws UnreadablePayload */
function getAction(payload: Payload): Payload {
  try {
    return readCheckBody(ACTION, ALIASES, payload) as Payload;
  } catch (refusal) {
    throw new UnreadablePayload((refusal as Error).message.replace(/\.$/, ''));
  }
}

/** The service's own protocol: a JSON action in, a JSON decision out, always with exit code 0. */
export const plainDialect: Dialect = {
  name: 'plain',
  agent_id: 'unknown',
  recognises: () => false,
  readEvent,
  readSubject: (payload) => {
    return {
      agent_id: readContextName(payload, 'agent_id'),
      session_id: readContextName(payload, 'session_id'),
      tenant_id: readContextName(payload, 'tenant_id'),
      tool_use_id: readOptionalName(payload, 'tool_use_id'),
      approval_request_id: readOptionalName(payload, 'approval_request_id'),
    };
  },
  events: {
    post_tool_use: { checks: getResult, deny: (reason, payload) => replyWithRefusal(reason, payload) },
    pre_tool_use: { checks: getCall, deny: (reason, payload) => replyWithRefusal(reason, payload) },
    prompt: buildPromptEvent(),
  },
  ignored_events: [],
  pass: EMPTY_REPLY,
  refuse: replyWithRefusal,
  writeDecision,
};

/** Returns the stated event, or derives it from the members of the payload. */
function readEvent(payload: Payload, given: string | null): string | null {
  const reply = given ?? readOptionalName(payload, 'event') ?? readOptionalName(payload, 'phase');
  if (reply !== null) return EVENTS.get(reply) ?? reply;
  const { tool, text, output } = getAction(payload);
  if (tool === undefined) return typeof text === 'string' ? 'prompt' : null;
  return output === undefined ? 'pre_tool_use' : 'post_tool_use';
}

const EVENTS: ReadonlyMap<string, string> = new Map([
  ['request', 'pre_tool_use'],
  ['response', 'post_tool_use'],
]);

function buildPromptEvent(): HookEvent {
  return {
    checks: (payload) => [
      { kind: 'prompt', text: readRequiredText(requireOnlyMember(payload, 'text'), 'text') },
    ],
    deny: (reason, payload) => replyWithRefusal(reason, payload),
  };
}

function getCall(payload: Payload): readonly HookCheck[] {
  const tool = getTool(payload);
  const input = (requireOnlyMember(payload, 'input').input ?? {}) as Json;
  return [
    { kind: 'call', tool, input: typeof input === 'string' && SHELL.test(tool) ? { command: input } : input },
  ];
}

function getResult(payload: Payload): readonly HookCheck[] {
  return [
    {
      kind: 'result',
      tool: getTool(payload),
      output: readRequiredValue(requireOnlyMember(payload, 'output'), 'output'),
    },
  ];
}

/** Returns the action if it contains nothing else to evaluate; a result may come with its call. @throws UnreadablePayload */
function requireOnlyMember(payload: Payload, judged: 'input' | 'output' | 'text'): Payload {
  const action = getAction(payload);
  const others = (['input', 'output', 'text'] as const).filter(
    (name) => name !== judged && !(judged === 'output' && name === 'input'),
  );
  const other = others.find((name) => action[name] !== undefined && action[name] !== null);
  if (other !== undefined) throw new UnreadablePayload(`\`${other}\` does not belong to this event`);
  return action;
}

/** Returns a name from the top level or from `context`. @throws UnreadablePayload */
function readContextName(payload: Payload, key: 'agent_id' | 'session_id' | 'tenant_id'): string | null {
  const above = readOptionalName(payload, key);
  const within = readOptionalName(getContext(payload), key);
  if (above !== null && within !== null && above !== within)
    throw new UnreadablePayload(`\`${key}\` is another one than \`context.${key}\``);
  return above ?? within;
}

function getTool(payload: Payload): string {
  return readToolName(payload, payload.tool === undefined ? 'tool_name' : 'tool');
}

function getContext({ context }: Payload): Payload {
  return typeof context === 'object' && context !== null ? (context as Payload) : {};
}

const CHANGED: Readonly<Record<string, string>> = {
  post_tool_use: 'modified_output',
  pre_tool_use: 'modified_input',
  prompt: 'modified_text',
};

function writeDecision(answer: HookAnswer, payload: Payload, nowMs: number): HookReply {
  const { decision, action, rule, reason, event_id, violations, coverage, approval, changed, marks } = answer;
  const event = tryRead(() => readEvent(payload, null));
  return replyWithJson({
    decision,
    tool: tryRead(() => getTool(payload)),
    agent_id: tryRead(() => readOptionalName(payload, 'agent_id')) ?? plainDialect.agent_id,
    timestamp: new Date(nowMs).toISOString(),
    action,
    rule,
    reason:
      approval?.status === 'pending' ? `${reason} ${describePendingApproval(approval.request_id)}` : reason,
    violations,
    coverage,
    event_id,
    ...(approval !== null && { approval }),
    ...(marks !== undefined && { marks }),
    ...(changed !== null && event !== null && { [CHANGED[event] ?? 'modified_input']: changed }),
  });
}

/** Returns `null` for a member that cannot be read, because a refusal repeats only readable parts of a payload. */
function tryRead(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function replyWithRefusal(reason: string, payload: Payload = {}): HookReply {
  return writeDecision(buildRefusalAnswer(reason), payload, Date.now());
}

function buildRefusalAnswer(reason: string): HookAnswer {
  return {
    decision: 'block',
    action: 'block',
    rule: 'hook.refused',
    reason,
    event_id: null,
    violations: [],
    coverage: 'full',
    approval: null,
    one_approval_suffices: false,
    changed: null,
  };
}

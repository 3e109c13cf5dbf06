import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookCheck, HookReply, Payload } from '../record/dialect.ts';
import {
  EMPTY_REPLY,
  formatResult,
  getJsonMember,
  parseIfJson,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readToolName,
  replyWithExitCode,
  replyWithJson,
} from '../record/payload.ts';

/**
 * The dialect of GitHub Copilot CLI, of its cloud agent, which reads `ask` as a denial, and of VS Code, which reads the
 * same files. Payloads have two shapes, by the spelling of the event in the settings: `preToolUse`, whose payload does
 * not name the event, so that it is derived from the members, and `PreToolUse`. Replies contain both shapes if an agent
 * could read either.
 */
export const copilotDialect: Dialect = {
  name: 'copilot',
  agent_id: 'copilot',
  recognises: (payload) =>
    (typeof payload.sessionId === 'string' && payload.hook_event_name === undefined) ||
    (typeof payload.timestamp === 'string' && getName(payload) !== null),
  readEvent: (payload, given) => toCamelCase(given ?? getName(payload) ?? detectEventName(payload)),
  readSubject: (payload) => ({
    agent_id: null,
    session_id: readOptionalName(payload, 'session_id') ?? readOptionalName(payload, 'sessionId'),
    tenant_id: null,
    tool_use_id: readOptionalName(payload, 'tool_use_id') ?? readOptionalName(payload, 'toolUseId'),
    approval_request_id: null,
  }),
  events: {
    permissionRequest: {
      checks: getCall,
      deny: (message) => replyWithJson({ behavior: 'deny', message }),
      // Copilot asks its user at this event anyway.
      ask: () => EMPTY_REPLY,
    },
    postToolUse: {
      checks: (payload) => [{ kind: 'result', tool: getTool(payload), output: getResult(payload) }],
      deny: (reason) => replyWithModifiedResult(reason, reason),
      change: (changed, reason, _payload, note) =>
        replyWithModifiedResult(formatModifiedText(changed), note === null ? reason : `${reason} ${note}`),
      note: (additionalContext) => replyWithJson({ additionalContext }),
    },
    preToolUse: {
      checks: getCall,
      deny: (reason) => replyWithDecision('deny', reason),
      ask: (reason) => replyWithDecision('ask', reason),
      // The reply is not `allow`, because a changed call would then run without the agent's own question to its user.
      change: (modifiedArgs, reason) => replyWithDecision('ask', reason, modifiedArgs),
    },
    userPromptSubmitted: {
      checks: (payload) => [{ kind: 'prompt', text: readRequiredText(payload, 'prompt') }],
      deny: replyWithExitCode,
    },
  },
  ignored_events: [
    'agentStop',
    'errorOccurred',
    'notification',
    'postToolUseFailure',
    'preCompact',
    'sessionEnd',
    'sessionStart',
    'stop',
    'subagentStart',
    'subagentStop',
  ],
  pass: EMPTY_REPLY,
  refuse: replyWithExitCode,
};

function getName(payload: Payload): string | null {
  return (
    readOptionalName(payload, 'hook_event_name') ??
    readOptionalName(payload, 'hookEventName') ??
    readOptionalName(payload, 'hookName')
  );
}

/** Derives the event of a payload that does not name it. */
function detectEventName({
  toolName,
  toolResult,
  prompt,
  initialPrompt,
  source,
  reason,
  error,
}: Payload): string | null {
  if (toolName !== undefined) return toolResult === undefined ? 'preToolUse' : 'postToolUse';
  if (initialPrompt !== undefined || source !== undefined) return 'sessionStart';
  if (prompt !== undefined) return 'userPromptSubmitted';
  if (error !== undefined) return 'errorOccurred';
  return reason === undefined ? null : 'sessionEnd';
}

/** Converts `PreToolUse` to `preToolUse`, and maps the one event that has two names. */
function toCamelCase(name: string | null): string | null {
  if (name === null) return null;
  const firstSmall = name.charAt(0).toLowerCase() + name.slice(1);
  return firstSmall === 'userPromptSubmit' ? 'userPromptSubmitted' : firstSmall;
}

/** The members that may hold the arguments. `permissionRequest` has them in `toolInput`. */
const ARGUMENTS = ['toolArgs', 'toolInput', 'tool_input'] as const;

function getCall(payload: Payload): readonly HookCheck[] {
  const key = ARGUMENTS.find((each) => payload[each] !== undefined) ?? 'toolArgs';
  return [{ kind: 'call', tool: getTool(payload), input: parseIfJson(readRequiredValue(payload, key)) }];
}

function getTool(payload: Payload): string {
  return readToolName(payload, payload.toolName === undefined ? 'tool_name' : 'toolName');
}

const RESULTS = ['toolResult', 'tool_result', 'tool_response', 'tool_output'] as const;

function getResult(payload: Payload): Json {
  return readRequiredValue(payload, RESULTS.find((key) => payload[key] !== undefined) ?? 'toolResult');
}

function formatModifiedText(changed: Json): string {
  return formatResult(getJsonMember(changed, 'textResultForLlm') ?? changed);
}

function replyWithModifiedResult(textResultForLlm: string, additionalContext: string): HookReply {
  return replyWithJson({
    modifiedResult: { resultType: 'success', textResultForLlm },
    additionalContext,
  });
}

function replyWithDecision(
  permissionDecision: 'deny' | 'ask',
  permissionDecisionReason: string,
  args?: Json,
): HookReply {
  const decision = { permissionDecision, permissionDecisionReason };
  return replyWithJson({
    ...decision,
    ...(args !== undefined && { modifiedArgs: args }),
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      ...decision,
      ...(args !== undefined && { updatedInput: args }),
    },
  });
}

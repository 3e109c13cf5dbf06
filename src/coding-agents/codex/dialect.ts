import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookCheck, HookReply, Payload } from '../record/dialect.ts';
import {
  buildOpeningEvent,
  EMPTY_REPLY,
  formatResult,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readSubject,
  readToolName,
  replyWithExitCode,
  replyWithJson,
} from '../record/payload.ts';

/**
 * The dialect of Codex CLI. Its parser is strict: unknown members, `ask`, and `allow` without changed arguments make
 * the hook fail, and then the call continues. So an allowed call gets an empty reply, and a denial always has a reason.
 */
export const codexDialect: Dialect = {
  name: 'codex',
  agent_id: 'codex',
  recognises: ({ hook_event_name, turn_id }) =>
    typeof hook_event_name === 'string' && typeof turn_id === 'string',
  readEvent: (payload, given) => given ?? readOptionalName(payload, 'hook_event_name'),
  readSubject: (payload) => readSubject(payload, 'session_id', 'tool_use_id'),
  events: {
    PermissionRequest: {
      checks: getCall,
      deny: (message) =>
        replyWithSpecificOutput('PermissionRequest', { decision: { behavior: 'deny', message } }),
    },
    PostToolUse: {
      checks: (payload) => [
        {
          kind: 'result',
          tool: readToolName(payload, 'tool_name'),
          output: readRequiredValue(payload, 'tool_response'),
        },
      ],
      // The reason replaces the result, so a changed result is also sent as a reason.
      deny: replyWithBlock,
      change: (changed, reason, _payload, note) =>
        replyWithBlock(`${note === null ? reason : `${reason} ${note}`}\n${cutResult(changed)}`),
      note: (additionalContext) => replyWithSpecificOutput('PostToolUse', { additionalContext }),
    },
    PreToolUse: {
      checks: getCall,
      deny: (permissionDecisionReason) =>
        replyWithSpecificOutput('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason }),
      change: (updatedInput) =>
        replyWithSpecificOutput('PreToolUse', { permissionDecision: 'allow', updatedInput }),
    },
    UserPromptSubmit: {
      checks: (payload) => [{ kind: 'prompt', text: readRequiredText(payload, 'prompt'), is_typed: true }],
      deny: replyWithBlock,
    },
    SessionStart: buildOpeningEvent(),
  },
  ignored_events: [
    'Interrupt',
    'PostCompact',
    'PreCompact',
    'SessionEnd',
    'Stop',
    'SubagentStart',
    'SubagentStop',
  ],
  pass: EMPTY_REPLY,
  refuse: replyWithExitCode,
};

function getCall(payload: Payload): readonly HookCheck[] {
  return [
    {
      kind: 'call',
      tool: readToolName(payload, 'tool_name'),
      input: readRequiredValue(payload, 'tool_input'),
    },
  ];
}

/** About the length that Codex reads from one hook, which is 2,500 tokens. */
const RESULT_UNITS_MAX = 8_000;

function cutResult(value: Json): string {
  const text = formatResult(value);
  return text.length <= RESULT_UNITS_MAX ? text : `${text.slice(0, RESULT_UNITS_MAX)}\n[cut]`;
}

function replyWithBlock(reason: string): HookReply {
  return replyWithJson({ decision: 'block', reason });
}

function replyWithSpecificOutput(hookEventName: string, decision: object): HookReply {
  return replyWithJson({ hookSpecificOutput: { hookEventName, ...decision } });
}

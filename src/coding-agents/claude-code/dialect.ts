import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookCheck, HookEvent, HookReply, Payload } from '../record/dialect.ts';
import {
  buildOpeningEvent,
  EMPTY_REPLY,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readSubject,
  readToolName,
  replaceWithNotice,
  replyWithExitCode,
  replyWithJson,
} from '../record/payload.ts';

/**
 * The dialect of Claude Code. It accepts a JSON decision with exit code 0, or exit code 2. After anything else,
 * including a time-out, the call continues. `allow` would skip the agent's own question to its user, so an allowed call
 * gets an empty reply.
 */
export const claudeCodeDialect: Dialect = {
  name: 'claude-code',
  agent_id: 'claude-code',
  recognises: ({ hook_event_name }) => typeof hook_event_name === 'string' && /^[A-Z]/.test(hook_event_name),
  readEvent: (payload, given) => given ?? readOptionalName(payload, 'hook_event_name'),
  readSubject: (payload) => readSubject(payload, 'session_id', 'tool_use_id'),
  events: {
    ConfigChange: {
      checks: ({ source, file_path }) => [
        { kind: 'call', tool: 'ConfigChange', input: { source, file_path } as Json },
      ],
      deny: replyWithBlock,
    },
    Elicitation: {
      checks: (payload) => [
        { kind: 'result', tool: getElicitation(payload), output: readElicitation(payload) },
      ],
      deny: () => replyWithSpecificOutput('Elicitation', { action: 'decline' }),
    },
    ElicitationResult: {
      checks: (payload) => [
        { kind: 'call', tool: getElicitation(payload), input: (payload.content ?? {}) as Json },
      ],
      deny: () => replyWithSpecificOutput('ElicitationResult', { action: 'decline' }),
    },
    PermissionRequest: {
      checks: getCall,
      deny: (message) =>
        replyWithSpecificOutput('PermissionRequest', { decision: { behavior: 'deny', message } }),
      // Claude Code asks its user at this event anyway.
      ask: () => EMPTY_REPLY,
    },
    PostToolBatch: { checks: getBatch, deny: replyWithBlock },
    PostToolUse: {
      checks: (payload) => [
        {
          kind: 'result',
          tool: readToolName(payload, 'tool_name'),
          output: readRequiredValue(payload, 'tool_response'),
        },
      ],
      // `block` alone leaves the output visible to the model.
      deny: (reason, payload) =>
        replyWithJson({
          decision: 'block',
          reason,
          hookSpecificOutput: {
            hookEventName: 'PostToolUse',
            updatedToolOutput: replaceWithNotice((payload.tool_response ?? '') as Json, reason),
          },
        }),
      change: (updatedToolOutput, _reason, _payload, note) =>
        replyWithSpecificOutput('PostToolUse', {
          updatedToolOutput,
          ...(note !== null && { additionalContext: note }),
        }),
      note: (additionalContext) => replyWithSpecificOutput('PostToolUse', { additionalContext }),
    },
    PostToolUseFailure: {
      checks: (payload) => [
        {
          kind: 'result',
          tool: readToolName(payload, 'tool_name'),
          output: readRequiredValue(payload, 'error'),
        },
      ],
      deny: replyWithWarning,
      change: (_changed, reason) => replyWithWarning(reason),
      note: replyWithWarning,
    },
    PreToolUse: buildPreToolUseEvent(),
    SessionStart: buildOpeningEvent(),
    // The text of a slash command is from a file, which a stranger may have written.
    UserPromptExpansion: buildPromptEvent('UserPromptExpansion', {}),
    UserPromptSubmit: buildPromptEvent('UserPromptSubmit', { is_typed: true }),
  },
  ignored_events: [
    'CwdChanged',
    'DirectoryAdded',
    'FileChanged',
    'InstructionsLoaded',
    'MessageDisplay',
    'Notification',
    'PermissionDenied',
    'PostCompact',
    'PreCompact',
    'SessionEnd',
    'Setup',
    'Stop',
    'StopFailure',
    'SubagentStart',
    'SubagentStop',
    'TaskCompleted',
    'TaskCreated',
    'TeammateIdle',
    'WorktreeCreate',
    'WorktreeRemove',
  ],
  pass: EMPTY_REPLY,
  refuse: replyWithExitCode,
};

function buildPreToolUseEvent(): HookEvent {
  const decide = (
    permissionDecision: 'deny' | 'ask',
    permissionDecisionReason: string,
    more = {},
  ): HookReply =>
    replyWithSpecificOutput('PreToolUse', { permissionDecision, permissionDecisionReason, ...more });
  return {
    checks: getCall,
    deny: (reason) => decide('deny', reason),
    ask: (reason) => decide('ask', reason),
    // The reply is not `allow`, because a changed call would then run without the agent's own question to its user.
    change: (updatedInput, reason) =>
      isObject(updatedInput) ? decide('ask', reason, { updatedInput }) : null,
  };
}

/** A prompt cannot be rewritten in Claude Code, so a prompt that a rule would mask is denied. */
function buildPromptEvent(hookEventName: string, by: { readonly is_typed?: true }): HookEvent {
  return {
    checks: (payload) => [{ kind: 'prompt', text: readRequiredText(payload, 'prompt'), ...by }],
    deny: (reason) =>
      replyWithJson({
        decision: 'block',
        reason,
        hookSpecificOutput: { hookEventName, suppressOriginalPrompt: true },
      }),
  };
}

function getCall(payload: Payload): readonly HookCheck[] {
  return [
    {
      kind: 'call',
      tool: readToolName(payload, 'tool_name'),
      input: readRequiredValue(payload, 'tool_input'),
    },
  ];
}

function getBatch(payload: Payload): readonly HookCheck[] {
  const calls = readRequiredValue(payload, 'tool_calls');
  if (!Array.isArray(calls)) return [{ kind: 'result', tool: 'PostToolBatch', output: calls }];
  return calls.map((call) => {
    const one = call as Payload;
    return {
      kind: 'result',
      tool: readToolName(one, 'tool_name'),
      output: readRequiredValue(one, 'tool_response'),
    };
  });
}

function getElicitation(payload: Payload): string {
  return `mcp__${readToolName(payload, 'mcp_server_name')}__elicitation`;
}

function readElicitation({ message, url, requested_schema }: Payload): Json {
  return { message, url, requested_schema } as Json;
}

function replyWithWarning(reason: string): HookReply {
  return replyWithSpecificOutput('PostToolUseFailure', { additionalContext: reason });
}

function replyWithBlock(reason: string): HookReply {
  return replyWithJson({ decision: 'block', reason });
}

function replyWithSpecificOutput(hookEventName: string, decision: object): HookReply {
  return replyWithJson({ hookSpecificOutput: { hookEventName, ...decision } });
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

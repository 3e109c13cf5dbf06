import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookCheck, HookEvent, HookReply, Payload } from '../record/dialect.ts';
import {
  parseIfJson,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readSubject,
  readToolName,
  replaceWithNotice,
  replyWithJson,
  UnreadablePayload,
} from '../record/payload.ts';

/**
 * The dialect of Cursor. It accepts a JSON permission with exit code 0. After unreadable or late output the call
 * continues, unless the hook's entry sets `failClosed`. `ask` works only for shell commands and MCP calls.
 */
export const cursorDialect: Dialect = {
  name: 'cursor',
  agent_id: 'cursor',
  recognises: ({ conversation_id, hook_event_name }) =>
    typeof conversation_id === 'string' && typeof hook_event_name === 'string',
  readEvent: (payload, given) => given ?? readOptionalName(payload, 'hook_event_name'),
  readSubject: (payload) => readSubject(payload, 'conversation_id', 'tool_use_id'),
  events: {
    beforeMCPExecution: {
      checks: (payload) => [
        {
          kind: 'call',
          tool: `MCP:${readToolName(payload, 'tool_name')}`,
          input: parseIfJson(readRequiredValue(payload, 'tool_input')),
        },
      ],
      deny: replyWithDenial,
      ask: replyWithQuestion,
    },
    beforeReadFile: readFile(),
    beforeShellExecution: {
      checks: (payload) => [
        { kind: 'call', tool: 'Shell', input: { command: readRequiredText(payload, 'command') } },
      ],
      deny: replyWithDenial,
      ask: replyWithQuestion,
    },
    beforeSubmitPrompt: {
      checks: (payload) => [
        { kind: 'prompt', text: readRequiredText(payload, 'prompt') },
        ...listAttachmentChecks(payload),
      ],
      deny: (userMessage) => replyWithJson({ continue: false, user_message: userMessage }),
    },
    beforeTabFileRead: readFile(),
    postToolUse: {
      checks: (payload) => [
        {
          kind: 'result',
          tool: readToolName(payload, 'tool_name'),
          output: parseIfJson(readRequiredValue(payload, 'tool_output')),
        },
      ],
      deny: (reason, payload) =>
        replyWithResult(
          replaceWithNotice(parseIfJson((payload.tool_output ?? '') as Json), reason),
          reason,
          payload,
        ),
      change: replyWithResult,
      note: (additionalContext) => replyWithJson({ additional_context: additionalContext }),
    },
    preToolUse: {
      checks: (payload) => [
        {
          kind: 'call',
          tool: readToolName(payload, 'tool_name'),
          input: readRequiredValue(payload, 'tool_input'),
        },
      ],
      deny: replyWithDenial,
      change: (updatedInput) => replyWithJson({ permission: 'allow', updated_input: updatedInput }),
    },
    subagentStart: {
      checks: ({ subagent_type, task }) => [
        {
          kind: 'call',
          tool: 'Task',
          input: { subagent_type: subagent_type ?? null, task: task ?? null } as Json,
        },
      ],
      deny: replyWithDenial,
    },
  },
  ignored_events: [
    'afterAgentResponse',
    'afterAgentThought',
    'afterFileEdit',
    'afterMCPExecution',
    'afterShellExecution',
    'afterTabFileEdit',
    'preCompact',
    'sessionEnd',
    'sessionStart',
    'stop',
    'subagentStop',
  ],
  // Empty output is not JSON, and with `failClosed` Cursor would deny the call.
  pass: replyWithJson({}),
  refuse: (reason) => ({ ...replyWithDenial(reason), stderr: `${reason}\n`, code: 2 }),
};

function replyWithDenial(reason: string): HookReply {
  return replyWithJson({ permission: 'deny', user_message: reason, agent_message: reason });
}

function replyWithQuestion(reason: string): HookReply {
  return replyWithJson({ permission: 'ask', user_message: reason, agent_message: reason });
}

/** Checks the path as a call and the content of the file as its result. The reply cannot mask any of it. */
function readFile(): HookEvent {
  return {
    checks: (payload) => [
      { kind: 'call', tool: 'Read', input: { file_path: readRequiredText(payload, 'file_path') } },
      { kind: 'result', tool: 'Read', output: readRequiredText(payload, 'content') },
      ...listAttachmentChecks(payload),
    ],
    deny: (userMessage) => replyWithJson({ permission: 'deny', user_message: userMessage }),
  };
}

/** Returns the checks of the files that are attached to a prompt. */
function listAttachmentChecks({ attachments }: Payload): readonly HookCheck[] {
  if (attachments === undefined || attachments === null) return [];
  if (!Array.isArray(attachments)) throw new UnreadablePayload('`attachments` is no list');
  return attachments.map((one: Json) => {
    const { file_path, filePath, path } = (one ?? {}) as Record<string, Json>;
    return { kind: 'call', tool: 'Read', input: { file_path: file_path ?? filePath ?? path ?? one } };
  });
}

/** Replaces the result of an MCP tool. Cursor cannot replace other results, so the model receives a note about them. */
function replyWithResult(
  changed: Json,
  reason: string,
  { tool_name }: Payload,
  note: string | null = null,
): HookReply {
  const isMcp = typeof tool_name === 'string' && tool_name.startsWith('MCP:');
  if (!isMcp) return replyWithJson({ additional_context: note === null ? reason : `${reason} ${note}` });
  return replyWithJson({
    updated_mcp_tool_output: changed,
    ...(note !== null && { additional_context: note }),
  });
}

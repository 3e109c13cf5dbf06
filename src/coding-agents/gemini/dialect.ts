import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookReply, Payload } from '../record/dialect.ts';
import {
  buildOpeningEvent,
  EMPTY_REPLY,
  formatResult,
  getJsonMember,
  readOptionalName,
  readRequiredText,
  readRequiredValue,
  readSubject,
  readToolName,
  replyWithExitCode,
  replyWithJson,
} from '../record/payload.ts';

/**
 * The dialect of Gemini CLI. It accepts a JSON decision, or exit code 2. It reads standard output that is not JSON as
 * an allow. Its time-outs are in milliseconds.
 */
export const geminiDialect: Dialect = {
  name: 'gemini',
  agent_id: 'gemini',
  recognises: ({ hook_event_name }) =>
    typeof hook_event_name === 'string' &&
    (hook_event_name in geminiDialect.events || OWN.includes(hook_event_name)),
  readEvent: (payload, given) => given ?? readOptionalName(payload, 'hook_event_name'),
  readSubject: (payload) => readSubject(payload, 'session_id', null),
  events: {
    AfterTool: {
      checks: (payload) => [
        {
          kind: 'result',
          tool: readToolName(payload, 'tool_name'),
          output: readRequiredValue(payload, 'tool_response'),
        },
      ],
      // The reason replaces the result, so a changed result is also sent as a reason.
      deny: replyWithDenial,
      change: (changed, reason, _payload, note) =>
        replyWithDenial(`${note === null ? reason : `${reason} ${note}`}\n${formatForModel(changed)}`),
      note: (additionalContext) =>
        replyWithJson({ hookSpecificOutput: { hookEventName: 'AfterTool', additionalContext } }),
    },
    BeforeAgent: {
      checks: (payload) => [{ kind: 'prompt', text: readRequiredText(payload, 'prompt'), is_typed: true }],
      deny: replyWithDenial,
    },
    BeforeTool: {
      checks: (payload) => [
        {
          kind: 'call',
          tool: readToolName(payload, 'tool_name'),
          input: readRequiredValue(payload, 'tool_input'),
        },
      ],
      deny: replyWithDenial,
      change: (changed, _reason, payload) => replyWithMergedInput(changed, payload),
    },
    SessionStart: buildOpeningEvent(),
  },
  ignored_events: [
    'AfterAgent',
    'AfterModel',
    'BeforeModel',
    'BeforeToolSelection',
    'Notification',
    'PreCompress',
    'SessionEnd',
  ],
  pass: EMPTY_REPLY,
  refuse: replyWithExitCode,
};

/** Names of events that no other coding agent has. */
const OWN = ['AfterAgent', 'AfterModel', 'BeforeModel', 'BeforeToolSelection', 'PreCompress'];

function replyWithDenial(reason: string): HookReply {
  return replyWithJson({ decision: 'deny', reason });
}

/** Gemini merges the changed arguments into the original ones, so a removed member would remain. */
function replyWithMergedInput(changed: Json, { tool_input }: Payload): HookReply | null {
  if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return null;
  const isWhole = Object.keys(tool_input as object).every((key) => Object.hasOwn(changed, key));
  if (!isWhole) return null;
  return replyWithJson({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: changed } });
}

/** Returns the part of a result that the model would have received. */
function formatForModel(changed: Json): string {
  return formatResult(getJsonMember(changed, 'llmContent') ?? changed);
}

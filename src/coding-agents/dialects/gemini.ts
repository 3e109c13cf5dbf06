import type { Json } from '../../core/types/index.ts';
import type { Dialect, HookReply, Payload } from '../protocol/dialect.ts';
import {
  exitReply,
  jsonReply,
  memberOf,
  nameAt,
  SILENCE,
  subjectAt,
  textAt,
  textOfResult,
  toolAt,
  valueAt,
} from '../protocol/payload.ts';

/**
 * Gemini CLI. A JSON decision, or exit code 2; anything on standard output that is not JSON is an allow. Its time-outs
 * are milliseconds.
 */
export const gemini: Dialect = {
  name: 'gemini',
  agent_id: 'gemini',
  recognises: ({ hook_event_name }) =>
    typeof hook_event_name === 'string' &&
    (hook_event_name in gemini.events || OWN.includes(hook_event_name)),
  eventOf: (payload, asked) => asked ?? nameAt(payload, 'hook_event_name'),
  subjectOf: (payload) => subjectAt(payload, 'session_id', null),
  events: {
    AfterTool: {
      checks: (payload) => [
        { kind: 'result', tool: toolAt(payload, 'tool_name'), output: valueAt(payload, 'tool_response') },
      ],
      // The reason takes the place of the result, so that it is the way to hand over a changed one as well.
      deny,
      change: (changed, reason) => deny(`${reason}\n${forModel(changed)}`),
    },
    BeforeAgent: { checks: (payload) => [{ kind: 'prompt', text: textAt(payload, 'prompt') }], deny },
    BeforeTool: {
      checks: (payload) => [
        { kind: 'call', tool: toolAt(payload, 'tool_name'), input: valueAt(payload, 'tool_input') },
      ],
      deny,
      change: (changed, _reason, payload) => merged(changed, payload),
    },
  },
  ignored_events: [
    'AfterAgent',
    'AfterModel',
    'BeforeModel',
    'BeforeToolSelection',
    'Notification',
    'PreCompress',
    'SessionEnd',
    'SessionStart',
  ],
  pass: SILENCE,
  refuse: exitReply,
};

/** Names of events that no other host has. */
const OWN = ['AfterAgent', 'AfterModel', 'BeforeModel', 'BeforeToolSelection', 'PreCompress'];

function deny(reason: string): HookReply {
  return jsonReply({ decision: 'deny', reason });
}

/** The host lays what it is given over the arguments: what is to be gone it would keep. */
function merged(changed: Json, { tool_input }: Payload): HookReply | null {
  if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return null;
  const is_whole = Object.keys(tool_input as object).every((key) => Object.hasOwn(changed, key));
  if (!is_whole) return null;
  return jsonReply({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: changed } });
}

/** What the model would have been shown of a result. */
function forModel(changed: Json): string {
  return textOfResult(memberOf(changed, 'llmContent') ?? changed);
}

import { resolve } from 'node:path';
import {
  type Answer,
  ASKS,
  codeFault,
  GOES_ON,
  goesOn,
  type HostSide,
  isObject,
  objectAt,
  objectIn,
  type ProbePlace,
  type Reading,
  STOPS,
  startWith,
  stopsFor,
  unfinished,
} from './host.ts';

/**
 * GitHub Copilot CLI. A fault before a tool is run is a no there, but for one that is late; at every other event it is
 * passed over. How the name of an event is written chooses the form of what is sent.
 */
export const copilot: HostSide = {
  name: 'copilot',
  payload,
  timeoutOf: () => 30_000,
  start: (hook, { project }) =>
    startWith(['bash', '-c'], hook, hook.cwd === null ? project : resolve(project, hook.cwd), hook.env),
  read,
};

/** The event behind both ways to write its name. */
function eventOf(event: string): string {
  const small = event.charAt(0).toLowerCase() + event.slice(1);
  return small === 'userPromptSubmit' ? 'userPromptSubmitted' : small;
}

function payload(event: string, place: ProbePlace): object | null {
  const own = ownOf(eventOf(event), place.text);
  if (own === null) return null;
  const { session_id, cwd, now_ms } = place;
  if (/^[a-z]/.test(event)) return { sessionId: session_id, timestamp: now_ms, cwd, ...own };
  const { toolName, toolArgs, toolResult, ...rest } = own;
  return {
    hook_event_name: event,
    session_id,
    timestamp: new Date(now_ms).toISOString(),
    cwd,
    ...rest,
    ...(toolName !== undefined && { tool_name: 'Bash', tool_input: toolArgs }),
    ...(toolResult !== undefined && {
      tool_result: { result_type: 'success', text_result_for_llm: place.text },
    }),
  };
}

function ownOf(event: string, text: string): Record<string, unknown> | null {
  const call = { toolName: 'bash', toolArgs: { command: text } };
  if (event === 'preToolUse' || event === 'permissionRequest') return call;
  if (event === 'postToolUse')
    return {
      ...call,
      toolArgs: { command: 'true' },
      toolResult: { resultType: 'success', textResultForLlm: text },
    };
  return event === 'userPromptSubmitted' ? { prompt: text } : null;
}

function read(written: string, answer: Answer, _hook: unknown, probe: string): Reading {
  const event = eventOf(written);
  const late = unfinished(answer);
  if (answer.is_late) return goesOn(late!);
  const { code } = answer;
  if (event === 'preToolUse' && code !== 0) return code === 2 ? STOPS : stopsFor(late ?? codeFault(code));
  if (event === 'permissionRequest' && code === 2) return STOPS;
  if (event === 'userPromptSubmitted')
    return { effect: 'unheard', fault: code === 0 || code === 2 ? null : codeFault(code) };
  if (code !== 0) return goesOn(late ?? codeFault(code));
  const text = withoutProgress(answer.stdout);
  if (text === '') return GOES_ON;
  const said = objectIn(text);
  if (said === null) return goesOn('what it writes is not one JSON object');
  if (event === 'permissionRequest') return said.behavior === 'deny' ? STOPS : GOES_ON;
  if (event === 'preToolUse') return readDecision(said.permissionDecision);
  const result = objectAt(said, 'modifiedResult');
  const is_replaced = result.resultType === 'success' && typeof result.textResultForLlm === 'string';
  return is_replaced && !(result.textResultForLlm as string).includes(probe) ? STOPS : GOES_ON;
}

function readDecision(decision: unknown): Reading {
  if (decision === 'deny') return STOPS;
  return decision === 'ask' ? ASKS : GOES_ON;
}

/** Lines that report progress are taken out before the rest is read. */
function withoutProgress(stdout: string): string {
  const lines = stdout.split('\n').filter((line) => {
    const value = objectIn(line);
    return !(isObject(value) && value.type === 'progress');
  });
  return lines.join('\n').trim();
}

/** Guards agents of the Claude Agent SDK by its hooks: prompts, tool calls and tool results. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import { isShown } from './held-calls.ts';

interface HookInput {
  readonly hook_event_name: string;
  readonly prompt?: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  readonly tool_use_id?: string;
  readonly error?: string;
  readonly tool_calls?: readonly { readonly tool_use_id: string }[];
}

type HookCallback = (input: HookInput) => Promise<object>;

interface HookMatcher {
  hooks: ((input: unknown) => Promise<object>)[];
  timeout: number;
  onFailure: 'block';
}

/** Hooks for the option `hooks` of `query`. */
export interface ClaudeHooks {
  readonly UserPromptSubmit: HookMatcher[];
  readonly PreToolUse: HookMatcher[];
  readonly PostToolUse: HookMatcher[];
  readonly PostToolUseFailure: HookMatcher[];
  readonly PostToolBatch: HookMatcher[];
}

/** The time limit of a hook in seconds. A hook waits for approvals. */
const TIMEOUT_SECONDS = 600;

/**
 * Returns the hooks for `query({ options: { hooks } })`. A blocked prompt is not sent, a blocked tool does not run, and
 * the result of a tool is masked before the model sees it. Answers of the model are not passed to hooks: read them
 * through `guardClaudeMessages`.
 */
export function createClaudeHooks(guard: Guard): ClaudeHooks {
  const matcher = (callback: HookCallback) => [
    { hooks: [failClosed(callback)], timeout: TIMEOUT_SECONDS, onFailure: 'block' as const },
  ];
  /** Failed calls whose errors the model may not read. */
  const withheld = new Set<string>();
  return {
    UserPromptSubmit: matcher(async ({ prompt = '' }) => {
      const text = await guard.protect.input(prompt);
      return text === prompt ? {} : { decision: 'block', reason: UNCHANGEABLE };
    }),
    PreToolUse: matcher(async ({ tool_name = '', tool_input }) => {
      const updatedInput = await guard.protect.tool(tool_name, tool_input ?? {});
      if (updatedInput === tool_input) return {};
      // Without a decision the permissions of the user still apply to the changed call.
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } };
    }),
    PostToolUse: matcher(async ({ tool_name = '', tool_response }) => {
      const updatedToolOutput = await guard.protect.toolResult(tool_name, tool_response ?? null);
      if (updatedToolOutput === (tool_response ?? null)) return {};
      return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
    }),
    PostToolUseFailure: matcher(async ({ tool_name = '', tool_use_id = '', error = '' }) => {
      const { decision } = await guard.toolResult(tool_name, error);
      if (decision !== 'allow') withheld.add(tool_use_id);
      return {};
    }),
    // An error of a tool cannot be changed, so the run ends before the model reads it.
    PostToolBatch: matcher(async ({ tool_calls = [] }) => {
      const isWithheld = tool_calls.filter(({ tool_use_id }) => withheld.delete(tool_use_id)).length > 0;
      return isWithheld ? { continue: false, stopReason: WITHHELD_ERROR } : {};
    }),
  } as unknown as ClaudeHooks;
}

interface ClaudeMessage {
  readonly type: string;
  readonly result?: unknown;
  readonly structured_output?: unknown;
  readonly permission_denials?: readonly { readonly tool_input: unknown }[];
  readonly message?: { readonly content: unknown };
}

/**
 * Yields the messages of `query` with checked texts. Partial messages are left out, because only a whole text is
 * checked. A blocked answer throws `BlockedError`.
 */
export async function* guardClaudeMessages<Message extends object>(
  messages: AsyncIterable<Message>,
  guard: Guard,
): AsyncGenerator<Message> {
  for await (const each of messages) {
    const given = each as ClaudeMessage;
    if (given.type === 'stream_event') continue;
    if (given.type === 'result') yield { ...each, ...(await protectResult(given, guard)) };
    else if (given.type === 'assistant' && given.message !== undefined)
      yield {
        ...each,
        message: { ...given.message, content: await protectContent(given.message.content, guard) },
      };
    else if (given.type === 'user' && given.message !== undefined)
      yield { ...each, ...(await protectErrors(given.message, guard)) };
    else yield each;
  }
}

/** Checks the errors of tools, which no hook can change. */
async function protectErrors(message: object, guard: Guard): Promise<object> {
  const { content } = message as { content: unknown };
  if (!Array.isArray(content)) return {};
  const blocks = await Promise.all(
    (content as ErrorBlock[]).map(async (block) => {
      if (block.type !== 'tool_result' || block.is_error !== true) return block;
      const verdict = await guard.toolResult('tool', block.content);
      return verdict.decision === 'allow' ? block : { ...block, content: WITHHELD_ERROR };
    }),
  );
  const isSame = blocks.every((block, at) => block === content[at]);
  // The result is there a second time.
  return isSame ? {} : { message: { ...message, content: blocks }, tool_use_result: WITHHELD_ERROR };
}

interface ErrorBlock {
  readonly type: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
}

/** A structured answer that would be masked is blocked, because its masked form may break its schema. */
async function protectResult(
  { result, structured_output, permission_denials }: ClaudeMessage,
  guard: Guard,
): Promise<Pick<ClaudeMessage, 'result' | 'permission_denials'>> {
  if (structured_output !== undefined) {
    const verdict = await guard.output(JSON.stringify(structured_output));
    if (verdict.decision !== 'allow') throw new BlockedError({ ...verdict, decision: 'block' });
  }
  const denials = permission_denials && {
    permission_denials: await Promise.all(
      permission_denials.map(async (each) => ({
        ...each,
        tool_input: await showInput(each.tool_input, guard),
      })),
    ),
  };
  return { ...denials, ...(typeof result === 'string' && { result: await guard.protect.output(result) }) };
}

interface ClaudeBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly thinking?: unknown;
  readonly input?: unknown;
}

async function protectContent(content: unknown, guard: Guard): Promise<unknown> {
  if (!Array.isArray(content)) return typeof content === 'string' ? guard.protect.output(content) : content;
  const blocks = await Promise.all((content as ClaudeBlock[]).map((block) => protectBlock(block, guard)));
  return blocks.filter((block) => block !== null);
}

/** Reasoning that would have to be masked is left out, and of such a call no arguments are shown. */
async function protectBlock(block: ClaudeBlock, guard: Guard): Promise<ClaudeBlock | null> {
  if (typeof block.text === 'string') return { ...block, text: await guard.protect.output(block.text) };
  if (typeof block.thinking === 'string') {
    const { decision } = await guard.output(block.thinking);
    return decision === 'allow' ? block : null;
  }
  if (block.type !== 'tool_use') return block;
  return { ...block, input: await showInput(block.input, guard) };
}

async function showInput(input: unknown, guard: Guard): Promise<unknown> {
  return (await isShown(guard, input)) ? input : {};
}

const UNCHANGEABLE = 'The prompt holds data that a rule masks, and the agent cannot take a changed prompt.';
const WITHHELD_ERROR = 'A tool failed, and its error holds data that the model may not read.';
const FAULT = 'The guard failed, so the call is blocked.';

/** A hook that throws lets the call pass, so every error becomes a denial. */
function failClosed(callback: HookCallback): HookCallback {
  return async (input) => {
    try {
      return await callback(input);
    } catch (error) {
      return buildDenial(input.hook_event_name, error instanceof BlockedError ? error.reason : FAULT);
    }
  };
}

function buildDenial(event: string, reason: string): object {
  if (event === 'PreToolUse')
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: `Blocked by policy: ${reason}`,
      },
    };
  if (event === 'PostToolUse')
    return {
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: `Blocked by policy: ${reason}` },
    };
  if (event === 'PostToolBatch') return { continue: false, stopReason: reason };
  return { decision: 'block', reason };
}

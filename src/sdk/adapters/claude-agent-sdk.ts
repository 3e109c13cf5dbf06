/** Guards agents of the Claude Agent SDK by its hooks: prompts, tool calls and tool results. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';

interface HookInput {
  readonly hook_event_name: string;
  readonly prompt?: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
}

type HookCallback = (input: HookInput) => Promise<object>;

/** Hooks for the option `hooks` of `query`. */
export interface ClaudeHooks {
  readonly UserPromptSubmit: {
    hooks: ((input: unknown) => Promise<object>)[];
    timeout: number;
    onFailure: 'block';
  }[];
  readonly PreToolUse: {
    hooks: ((input: unknown) => Promise<object>)[];
    timeout: number;
    onFailure: 'block';
  }[];
  readonly PostToolUse: {
    hooks: ((input: unknown) => Promise<object>)[];
    timeout: number;
    onFailure: 'block';
  }[];
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
  return {
    UserPromptSubmit: matcher(async ({ prompt = '' }) => {
      const text = await guard.protect.input(prompt);
      return text === prompt ? {} : { decision: 'block', reason: UNCHANGEABLE };
    }),
    PreToolUse: matcher(async ({ tool_name = '', tool_input }) => {
      const updatedInput = await guard.protect.tool(tool_name, tool_input ?? {});
      if (updatedInput === tool_input) return {};
      return {
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput },
      };
    }),
    PostToolUse: matcher(async ({ tool_name = '', tool_response }) => {
      const updatedToolOutput = await guard.protect.toolResult(tool_name, tool_response ?? null);
      if (updatedToolOutput === (tool_response ?? null)) return {};
      return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
    }),
  } as unknown as ClaudeHooks;
}

interface ClaudeMessage {
  readonly type: string;
  readonly result?: unknown;
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
    if (given.type === 'result' && typeof given.result === 'string')
      yield { ...each, result: await guard.protect.output(given.result) };
    else if (given.type === 'assistant' && given.message !== undefined)
      yield {
        ...each,
        message: { ...given.message, content: await protectContent(given.message.content, guard) },
      };
    else yield each;
  }
}

async function protectContent(content: unknown, guard: Guard): Promise<unknown> {
  if (!Array.isArray(content)) return typeof content === 'string' ? guard.protect.output(content) : content;
  return Promise.all(
    (content as { text?: unknown }[]).map(async (block) =>
      typeof block.text === 'string' ? { ...block, text: await guard.protect.output(block.text) } : block,
    ),
  );
}

const UNCHANGEABLE = 'The prompt holds data that a rule masks, and the agent cannot take a changed prompt.';
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
  return { decision: 'block', reason };
}

// Guards agents of the Claude Agent SDK: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const messages = query({ prompt, options: { hooks: guardHooks } });
//   for await (const message of guardMessages(messages)) ...

import { createClientGuard } from 'customshouse/sdk';
import { createClaudeHooks, guardClaudeMessages } from 'customshouse/sdk/claude-agent-sdk';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'claude-agent-sdk' });
export const guardHooks = createClaudeHooks(guard);
export const guardMessages = <Message extends object>(messages: AsyncIterable<Message>) =>
  guardClaudeMessages(messages, guard);

// Guards graphs of LangGraph: prompts, tool calls, results and answers. Needs `npm install agent-safety`.
//
//   const tools = new ToolNode(guardTools([lookUp, pay]));
//   const callModel = async ({ messages }) => ({ messages: [await guardModelCall(model, messages)] });

import { createClientGuard } from 'agent-safety/sdk';
import { guardLangChainTools, protectAnswer, protectMessages } from 'agent-safety/sdk/langchain';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'langgraph' });
export const guardTools = <Tool extends object>(tools: readonly Tool[]) => guardLangChainTools(tools, guard);
export const guardModelCall = async <Message extends object, Answer extends object>(
  model: { invoke: (messages: Message[]) => Promise<Answer> },
  messages: readonly Message[],
) => protectAnswer(await model.invoke(await protectMessages(messages, guard)), guard);

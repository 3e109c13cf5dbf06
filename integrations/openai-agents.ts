// Guards the OpenAI Agents SDK: prompts, tool calls, results and answers. Needs `npm install agent-safety`.
//
//   const agent = new Agent({ name: 'helper', model: guardModel(model), tools: guardTools([lookUp, pay]) });

import { createClientGuard } from 'agent-safety/sdk';
import { guardOpenAIModel, guardOpenAITools } from 'agent-safety/sdk/openai-agents';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'openai-agents' });
export const guardModel = <Model extends Parameters<typeof guardOpenAIModel>[0]>(model: Model) =>
  guardOpenAIModel(model, guard);
export const guardTools = <Tool extends object>(tools: readonly Tool[]) => guardOpenAITools(tools, guard);

// Guards the OpenAI Agents SDK: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const agent = new Agent({ name: 'helper', model: guardModel(model), tools: guardTools([lookUp, pay]) });

import { createClientGuard } from 'customshouse/sdk';
import { guardOpenAIModel, guardOpenAITools } from 'customshouse/sdk/openai-agents';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'openai-agents' });
export const guardModel = <Model extends Parameters<typeof guardOpenAIModel>[0]>(model: Model) =>
  guardOpenAIModel(model, guard);
export const guardTools = <Tool extends object>(tools: readonly Tool[]) => guardOpenAITools(tools, guard);

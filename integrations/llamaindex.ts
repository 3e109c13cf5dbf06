// Guards agents of LlamaIndex.TS: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const helper = agent({ llm: guardModel(llm), tools: guardTools([lookUp, pay]) });

import { createClientGuard } from 'customshouse/sdk';
import { guardLlamaIndexModel, guardLlamaIndexTools } from 'customshouse/sdk/llamaindex';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'llamaindex' });
export const guardModel = <Llm extends object>(llm: Llm) => guardLlamaIndexModel(llm, guard);
export const guardTools = <Tool extends object>(tools: readonly Tool[]) => guardLlamaIndexTools(tools, guard);

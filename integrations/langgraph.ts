// Guards graphs of LangGraph: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const guarded = guardModel(model).bindTools(tools);
//   const graph = new StateGraph(MessagesAnnotation)
//     .addNode('model', async ({ messages }) => ({ messages: [await guarded.invoke(messages)] }))
//     .addNode('tools', new ToolNode(guardTools(tools)));

import { createClientGuard } from 'customshouse/sdk';
import { guardLangChainModel, guardLangChainTools } from 'customshouse/sdk/langchain';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'langgraph' });
export const guardModel = <Model extends object>(model: Model) => guardLangChainModel(model, guard);
export const guardTools = <Tool extends object>(tools: readonly Tool[]) => guardLangChainTools(tools, guard);

// Guards agents of LangChain: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const agent = createAgent({ model, tools: [lookUp, pay], middleware: [guardMiddleware] });

import { createClientGuard } from 'customshouse/sdk';
import { createLangChainMiddleware } from 'customshouse/sdk/langchain';
import * as langchain from 'langchain';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'langchain' });
export const guardMiddleware = createLangChainMiddleware(langchain, guard);

// Guards the AI SDK of Vercel (6 or later): prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const model = wrapLanguageModel({ model: yours, middleware: guardMiddleware });
//   const { text } = await generateText({ model, tools: guardTools({ lookUp, pay }), prompt });

import { createClientGuard } from 'customshouse/sdk';
import { createVercelMiddleware, guardVercelTools } from 'customshouse/sdk/vercel-ai';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'vercel-ai' });
export const guardMiddleware = createVercelMiddleware(guard);
export const guardTools = <Tools extends object>(tools: Tools) => guardVercelTools(tools, guard);

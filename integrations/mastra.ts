// Guards agents of Mastra: prompts, tool calls, results and answers. Needs the package `customshouse`.
//
//   const agent = new Agent({ ..., tools: guardTools({ lookUp, pay }),
//     inputProcessors: [guardProcessor], outputProcessors: [guardProcessor] });

import { createClientGuard } from 'customshouse/sdk';
import { createMastraProcessor, guardMastraTools } from 'customshouse/sdk/mastra';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'mastra' });
export const guardProcessor = createMastraProcessor(guard);
export const guardTools = <Tools extends object>(tools: Tools) => guardMastraTools(tools, guard);

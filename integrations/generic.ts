// Guards TypeScript code without an agent framework. Needs the package `customshouse`.
//
//   const sent = await guard.run('send_email', { to, body }, sendEmail);   // checks the call and its result
//   const { text } = await generate(await guard.protect.input(prompt));
//   return guard.protect.output(text);                                     // each throws BlockedError

import { createClientGuard } from 'customshouse/sdk';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
export const guard = createClientGuard({ agent_id: 'generic' });

/** A model of the OpenAI Agents SDK that follows a script: it calls `send` with a secret, then answers with an address. */
import { setTracingDisabled, Usage } from '@openai/agents';

setTracingDisabled(true);
const call = { type: 'function_call', callId: '1', name: 'send', status: 'completed' };
const answer = [{ type: 'output_text', text: 'I could not, write to jane.doe@corp-mail.io.' }];
export const model = {
  getResponse: async ({ input }) => ({
    usage: new Usage(),
    output: input.some?.(({ type }) => type === 'function_call_result')
      ? [{ type: 'message', role: 'assistant', status: 'completed', content: answer }]
      : [{ ...call, arguments: '{"key":"sk-ABCDEF1234567890"}' }],
  }),
};

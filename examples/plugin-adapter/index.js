/**
 * The LiteLLM proxy asks a "generic guardrail API" before and after every call of a model. Through this adapter the service is
 * one: what a person or a program says is judged as `input`, what the model says as `output`, and the calls of tools
 * that the model wants as actions. Masked texts go back to the proxy; masked arguments it cannot take, so that they are a no.
 *
 *     guardrails:
 *       - guardrail_name: customshouse
 *         litellm_params:
 *           guardrail: generic_guardrail_api
 *           mode: [pre_call, post_call]
 *           api_base: http://127.0.0.1:8000/v1/adapters/litellm
 *           default_on: true
 *
 * Images are not looked at.
 */
const deny = { action: 'BLOCKED', blocked_reason: '{reason}' };
const change = { action: 'GUARDRAIL_INTERVENED', texts: '{changed}' };
const calls = {
  kind: 'call',
  each: '/tool_calls',
  tool: '{/function/name}',
  content: '{/function/arguments}',
  json: true,
  optional: true,
};

export default {
  name: 'litellm',
  version: '1.0.0',
  description: 'The LiteLLM proxy asks the service.',
  adapters: [
    {
      name: 'litellm',
      event: '{/input_type}',
      subject: { session_id: '{/litellm_trace_id}' },
      events: {
        request: { checks: [{ kind: 'prompt', content: '{/texts}', optional: true }, calls], deny, change },
        response: { checks: [{ kind: 'answer', content: '{/texts}', optional: true }, calls], deny, change },
      },
      pass: { action: 'NONE' },
      examples: [
        {
          payload: { input_type: 'request', texts: ['What is due?'], litellm_trace_id: 'trace-1' },
          checks: [{ kind: 'prompt', content: ['What is due?'] }],
        },
        {
          payload: {
            input_type: 'response',
            texts: [],
            tool_calls: [
              { id: 'call-1', type: 'function', function: { name: 'pay', arguments: '{"amount": 120}' } },
              { id: 'call-2', type: 'function', function: { name: 'note', arguments: '{}' } },
            ],
          },
          checks: [
            { kind: 'answer', content: [] },
            { kind: 'call', tool: 'pay', content: { amount: 120 } },
            { kind: 'call', tool: 'note', content: {} },
          ],
        },
      ],
    },
  ],
};

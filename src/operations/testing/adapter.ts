import type { AdapterSpec } from '../../runtime/adapters/types.ts';

/** The adapter in the example of the adapter route: it takes a prompt and answers yes or no. */
export const EXAMPLE_ADAPTER: AdapterSpec = {
  name: 'example',
  events: {
    prompt: {
      checks: [{ kind: 'prompt', content: '{/text}' }],
      deny: { allowed: false, reason: '{reason}' },
      change: { allowed: true, text: '{changed}' },
    },
  },
  pass: { allowed: true },
  examples: [{ payload: { text: 'hello' }, checks: [{ kind: 'prompt', content: 'hello' }] }],
};

import type { TestContext } from 'node:test';
import { proxyForward } from '../../gateways/forward/operations.ts';
import type { Llm } from '../../gateways/llm/call.ts';
import { openTestLlm } from '../../gateways/llm/testing/open-llm.ts';
import { settingsOf } from '../../gateways/upstream/testing/calls.ts';
import { startProvider } from '../../gateways/upstream/testing/provider.ts';

/** The settings of a `proxy.target` that answers the example of `proxy_forward` as that is described. */
export async function exampleTarget(t: TestContext): Promise<ReturnType<typeof settingsOf>> {
  const shown = proxyForward.answer!;
  const { url } = await startProvider(t, (response) => {
    response.sendDate = false;
    response.writeHead(shown.upstream_status!, shown.upstream_headers as Record<string, string>);
    response.end(shown.body);
  });
  return settingsOf({ target: url });
}

/** The LLM proxy that guards calls of models to that target. */
export function exampleLlm(t: TestContext): () => Promise<Llm> {
  const llm = openTestLlm();
  t.after(() => llm.close());
  return async () => llm;
}

import type { TestContext } from 'node:test';
import { proxyForward } from '../../gateways/forward/operations.ts';
import type { LlmProxy } from '../../gateways/llm/llm-call.ts';
import { openTestLlm } from '../../gateways/llm/testing/open-llm.ts';
import { startTestProvider } from '../../gateways/upstream/testing/test-provider.ts';
import { parseProxySettings } from '../../gateways/upstream/testing/test-upstreams.ts';

/** The settings of a `proxy.target` that answers the example of `proxy_forward` as that is described. */
export async function exampleTarget(t: TestContext): Promise<ReturnType<typeof parseProxySettings>> {
  const shown = proxyForward.answer!;
  const { url } = await startTestProvider(t, (response) => {
    response.sendDate = false;
    response.writeHead(shown.upstream_status!, shown.upstream_headers as Record<string, string>);
    response.end(shown.body);
  });
  return parseProxySettings({ target: url });
}

/** The LLM proxy that guards calls of models to that target. */
export function exampleLlm(t: TestContext): () => Promise<LlmProxy> {
  const llm = openTestLlm();
  t.after(() => llm.close());
  return async () => llm;
}

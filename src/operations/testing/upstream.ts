import type { TestContext } from 'node:test';
import { proxyForward } from '../../gateways/forward/operations.ts';
import type { LlmProxy } from '../../gateways/llm/llm-call.ts';
import { openTestLlm } from '../../gateways/llm/testing/open-llm.ts';
import { startTestProvider } from '../../gateways/upstream/testing/test-provider.ts';
import { parseProxySettings } from '../../gateways/upstream/testing/test-upstreams.ts';

/** Parses settings with a `proxy.target` that answers the example of `proxy_forward` as documented. */
export async function startExampleTarget(t: TestContext): Promise<ReturnType<typeof parseProxySettings>> {
  const shown = proxyForward.answer!;
  const { url } = await startTestProvider(t, (response) => {
    response.sendDate = false;
    response.writeHead(shown.upstream_status!, shown.upstream_headers as Record<string, string>);
    response.end(shown.body);
  });
  return parseProxySettings({ target: url });
}

/** Opens the LLM proxy that guards model calls to that target. */
export function openExampleLlm(t: TestContext): () => Promise<LlmProxy> {
  const llm = openTestLlm();
  t.after(() => llm.close());
  return async () => llm;
}

import { buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Budgets } from '../../../operations/model-costs.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { buildExamplePorts } from '../../../server/testing/examples.ts';
import { parseProxySettings } from '../../upstream/testing/test-upstreams.ts';
import { openUpstreams } from '../../upstream/upstreams.ts';
import type { LlmProxy } from '../llm-call.ts';
import { openLlmProxy } from '../llm-proxy.ts';

const NO_COST = { micro_usd: 0, is_assumed: false };

/** A ledger without limits. */
const NO_LIMIT: Budgets = {
  reserve: async () => ({ settle: async () => NO_COST, computeCost: () => NO_COST }),
};

/** Opens the real LLM proxy for tests of transports. It has no budgets by default, and adds decisions to `decided`. */
export function openTestLlm(budgets: Budgets = NO_LIMIT, decided: AuditEvent[] = []): LlmProxy {
  const context = buildExamplePorts(decided, { policy: buildTestPolicy() });
  return openLlmProxy({
    ports: () => context,
    presentCapability: () => Promise.reject(new Error('This test has no capabilities.')),
    upstreams: openUpstreams(parseProxySettings({})),
    budgets,
    settings: { mode: 'mask', response_bytes_max: 100_000, held_units_max: 100_000, cache_entries_max: 0 },
    telemetry: null,
    counts: null,
    onSettleFailure: () => {},
  });
}

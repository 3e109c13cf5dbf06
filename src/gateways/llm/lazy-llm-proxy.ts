import { createLazyValue } from '../../platform/lazy.ts';
import type { Log } from '../../platform/log.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { LlmDependencies } from './configured-llm.ts';
import type { LlmProxy } from './llm-call.ts';

/** The LLM proxy of a process that may never call a model. */
export interface LazyLlmProxy {
  /** Loads and opens the proxy on the first call. */
  readonly open: () => Promise<LlmProxy>;
  readonly close: () => Promise<void>;
}

/** Opens the LLM proxy on demand, so that startup does not load code that only model calls need. */
export function openLazyLlm(
  config: Config,
  log: Pick<Log, 'error'>,
  world: Omit<LlmDependencies, 'onSettleFailure'>,
): LazyLlmProxy {
  const onSettleFailure = (fault: unknown) =>
    log.error('what a call of a model cost could not be settled', describeStoreFault(fault));
  const llm = createLazyValue(async () =>
    (await import('./configured-llm.ts')).openConfiguredLlm(config, { ...world, onSettleFailure }),
  );
  return { open: llm.open, close: () => llm.ifOpened(({ close }) => close()) };
}

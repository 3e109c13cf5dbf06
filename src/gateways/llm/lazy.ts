import { lazy } from '../../platform/lazy.ts';
import type { Log } from '../../platform/log.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { Llm } from './call.ts';
import type { LlmWorld } from './open.ts';

/** The calls of a process that may never make one. */
export interface LazyLlm {
  /** Loaded and opened with the first call. */
  readonly open: () => Promise<Llm>;
  readonly close: () => Promise<void>;
}

/** No start waits for what only those use who call models through this service. */
export function lazyLlm(
  config: Config,
  log: Pick<Log, 'error'>,
  world: Omit<LlmWorld, 'unsettled'>,
): LazyLlm {
  const unsettled = (fault: unknown) =>
    log.error('what a call of a model cost could not be settled', describeStoreFault(fault));
  const llm = lazy(async () =>
    (await import('./open.ts')).openConfiguredLlm(config, { ...world, unsettled }),
  );
  return { open: llm.open, close: () => llm.ifOpened(({ close }) => close()) };
}

import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Packages } from './exporters.ts';

/**
 * Builds the sampler that the standard variables `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` select. Without
 * them, or for an unknown name, it follows the caller's sampling decision, and samples everything if the caller sends
 * none.
 */
export function buildSampler(
  env: Readonly<Record<string, string | undefined>>,
  { trace }: Packages,
): Sampler {
  const name = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  const root = getRoot(name.replace(/^parentbased_/, ''), env.OTEL_TRACES_SAMPLER_ARG, trace);
  return ROOTS.includes(name) ? root : new trace.ParentBasedSampler({ root });
}

/** Samplers that ignore the caller's decision. */
const ROOTS = ['always_on', 'always_off', 'traceidratio'];

function getRoot(name: string, argument: string | undefined, trace: Packages['trace']): Sampler {
  if (name === 'always_off') return new trace.AlwaysOffSampler();
  if (name === 'traceidratio') return new trace.TraceIdRatioBasedSampler(getRatio(argument));
  return new trace.AlwaysOnSampler();
}

function getRatio(argument = ''): number {
  const ratio = Number(argument);
  return argument.trim() !== '' && ratio >= 0 && ratio <= 1 ? ratio : 1;
}

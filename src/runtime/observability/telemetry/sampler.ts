import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Packages } from './exporters.ts';

/**
 * The sampler that the standard variables `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name; without one, and
 * for a name that is none, what the caller says, and everything where no caller says anything.
 */
export function buildSampler(
  env: Readonly<Record<string, string | undefined>>,
  { trace }: Packages,
): Sampler {
  const name = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  const root = rootOf(name.replace(/^parentbased_/, ''), env.OTEL_TRACES_SAMPLER_ARG, trace);
  return ROOTS.includes(name) ? root : new trace.ParentBasedSampler({ root });
}

/** Those that ask no caller. */
const ROOTS = ['always_on', 'always_off', 'traceidratio'];

function rootOf(name: string, argument: string | undefined, trace: Packages['trace']): Sampler {
  if (name === 'always_off') return new trace.AlwaysOffSampler();
  if (name === 'traceidratio') return new trace.TraceIdRatioBasedSampler(ratioOf(argument));
  return new trace.AlwaysOnSampler();
}

function ratioOf(argument = ''): number {
  const ratio = Number(argument);
  return argument.trim() !== '' && ratio >= 0 && ratio <= 1 ? ratio : 1;
}

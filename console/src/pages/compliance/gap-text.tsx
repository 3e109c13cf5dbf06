import type { ControlGap } from '../../../../src/features/compliance/report-types.ts';
import { Prose } from '../../components/prose.tsx';

/** A gap in words, with its time span if it has one. */
export function GapText({ gap: { message, tenants, since, until } }: { readonly gap: ControlGap }) {
  return (
    <>
      <Prose text={message} />
      {tenants === null ? null : ` Tenants: ${tenants.join(', ')}.`}
      {since === null ? null : ` (${formatShortTime(since)} to ${formatShortTime(until)})`}
    </>
  );
}

/** Returns the day and minute of a time, in UTC as in the report. */
export function formatShortTime(at: string | null): string {
  return at === null ? '' : at.slice(0, 16).replace('T', ' ');
}

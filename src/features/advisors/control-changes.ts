import type { ControlFinding } from '../../core/advisors/control-findings.ts';

/** A control whose part of the compliance report would change. */
export interface ControlChange {
  readonly control_id: string;
  /** The status in the report today, and with the proposal. */
  readonly from: string;
  readonly to: string;
  readonly missing_before: readonly string[];
  readonly missing_after: readonly string[];
  /** True if the status would be worse, or more would be missing. */
  readonly is_worse: boolean;
}

/** The statuses of a report, best first. */
const STATUSES = ['enforced', 'partly', 'gap'];

/** Compares two reports on the same framework. */
export function compareControls(
  before: readonly ControlFinding[],
  after: readonly ControlFinding[],
): readonly ControlChange[] {
  const found = new Map(after.map((control) => [control.control_id, control]));
  return before.flatMap(({ control_id, status: from, missing: missing_before }) => {
    const { status: to, missing: missing_after } = found.get(control_id) ?? {
      status: 'gap',
      missing: missing_before,
    };
    const is_same = from === to && missing_before.join('\n') === missing_after.join('\n');
    const is_worse =
      STATUSES.indexOf(to) > STATUSES.indexOf(from) || missing_after.length > missing_before.length;
    return is_same ? [] : [{ control_id, from, to, missing_before, missing_after, is_worse }];
  });
}

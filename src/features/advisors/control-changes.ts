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
  return before.flatMap(({ control_id, status: from, missing: missingBefore }) => {
    const { status: to, missing: missingAfter } = found.get(control_id) ?? {
      status: 'gap',
      missing: missingBefore,
    };
    const isSame = from === to && missingBefore.join('\n') === missingAfter.join('\n');
    const isWorse =
      STATUSES.indexOf(to) > STATUSES.indexOf(from) || missingAfter.length > missingBefore.length;
    return isSame
      ? []
      : [
          {
            control_id,
            from,
            to,
            missing_before: missingBefore,
            missing_after: missingAfter,
            is_worse: isWorse,
          },
        ];
  });
}

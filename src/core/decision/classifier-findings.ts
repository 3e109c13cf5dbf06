import type { Action, Coverage, Crossing, Finding } from '../types/index.ts';

/**
 * Returns the findings of detectors, without those of classifiers. Conditions, declared tags and removals of taint tags
 * depend on these alone, so that a classifier can make a decision stricter and never milder.
 */
export function selectDetected<Found extends Pick<Finding, 'source'>>(
  findings: readonly Found[],
): readonly Found[] {
  return findings.every(isDetected) ? findings : findings.filter(isDetected);
}

/** Returns whether a detector, and not a classifier, made a finding. */
export function isDetected({ source }: Pick<Finding, 'source'>): boolean {
  return source === undefined;
}

/** A scan of the detectors, with the fields that a contract removes from the content. */
interface DetectorScan {
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  readonly stripping?: { readonly enforcement: string; readonly leaves: readonly number[] } | null;
}

/** Adds the findings of classifiers to a scan, without those in fields that a contract removes. */
export function addClassification<Scan extends DetectorScan>(scan: Scan, { classification }: Crossing): Scan {
  if (classification === undefined) return scan;
  const { stripping = null } = scan;
  const leaves = stripping?.enforcement === 'enforce' ? new Set(stripping.leaves) : null;
  const classified = classification.findings.filter(
    ({ leaf, is_whole }) => leaves === null || is_whole === true || leaves.has(leaf),
  );
  return {
    ...scan,
    findings: [...scan.findings, ...classified],
    coverage: scan.coverage.status === 'full' ? classification.coverage : scan.coverage,
  };
}

/** Returns a block instead of a redaction if the finding has no place that could be masked. */
export function requirePlace<Outcome extends { readonly action: Action; readonly reason: string }>(
  outcome: Outcome,
  { is_whole }: Pick<Finding, 'is_whole'>,
): Outcome {
  if (is_whole !== true || outcome.action !== 'redact') return outcome;
  const reason = 'The rule asks for redaction, and the classifier gave no place that could be masked.';
  return { ...outcome, action: 'block', reason };
}

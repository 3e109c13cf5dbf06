import { isAllowlistable } from '../../core/decision/allowlist.ts';
import { detect } from '../../core/detect/detect.ts';
import type { Policy, Severity } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { ensureFingerprints } from './fingerprints.ts';

/** A finding that an entry of `detection.allowlist` can allow. It does not hold the value. */
export interface AllowableValue {
  readonly rule_id: string;
  readonly severity: Severity;
  readonly fingerprint: string;
}

/**
 * Returns the fingerprint of every value that is found in a text, without duplicates. Creates the key if it is
 * missing.
 */
export function listAllowableValues(text: string, config: Config, policy: Policy): readonly AllowableValue[] {
  const fingerprintOf = ensureFingerprints(config);
  const { findings } = detect({ kind: 'text', text }, policy.detection, policy.limits);
  const all = findings.filter(isAllowlistable).map(({ rule_id, severity, start, end }): AllowableValue => {
    return { rule_id, severity, fingerprint: fingerprintOf(rule_id, text.slice(start, end)) };
  });
  return [...new Map(all.map((each) => [each.fingerprint, each])).values()];
}

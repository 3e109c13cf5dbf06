import { collectLeafTexts } from '../json/walk.ts';
import type { AllowlistedFinding, Crossing, Detection, Finding, Fingerprinter } from '../types/index.ts';

/** Findings split into those that rules evaluate and those that are allowlisted. */
export interface AllowlistResult {
  readonly findings: readonly Finding[];
  readonly allowlisted_findings: readonly AllowlistedFinding[];
}

const NO_FINDINGS: readonly AllowlistedFinding[] = [];

/**
 * Splits findings by the fingerprint of the exact matched text. Expired entries have no effect. Without the key, no
 * entry has any.
 */
export function applyAllowlist(
  { content, now_ms, tenant_id }: Crossing,
  detection: Detection,
  found: readonly Finding[],
  computeFingerprint: Fingerprinter | null,
): AllowlistResult {
  if (found.length === 0 || detection.allowlist.length === 0 || computeFingerprint === null)
    return { findings: found, allowlisted_findings: NO_FINDINGS };
  const expiries = getExpiries(detection);
  const texts = collectLeafTexts(content, found);
  const findings: Finding[] = [];
  const allowlisted_findings: AllowlistedFinding[] = [];
  for (const finding of found) {
    const { rule_id, leaf, start, end } = finding;
    if (!isAllowlistable(finding)) {
      findings.push(finding);
      continue;
    }
    const fingerprint = computeFingerprint(rule_id, texts.get(leaf)!.slice(start, end));
    const expires_ms = Math.max(
      expiries.get(getKey(fingerprint, null)) ?? 0,
      expiries.get(getKey(fingerprint, tenant_id)) ?? 0,
    );
    if (now_ms < expires_ms) allowlisted_findings.push({ ...finding, fingerprint });
    else findings.push(finding);
  }
  return { findings, allowlisted_findings };
}

/**
 * Returns whether the match is the complete value. Commands and injections cannot be allowlisted: their match may be
 * a single word, and the harmful part can be outside of it. A finding about the whole content matches no value.
 */
export function isAllowlistable({ type, is_whole }: Finding): boolean {
  if (is_whole === true) return false;
  return type === 'secret_detected' || type === 'pii_detected' || type === 'content_detected';
}

function getKey(fingerprint: string, tenant_id: string | null): string {
  return tenant_id === null ? fingerprint : `${fingerprint} ${tenant_id}`;
}

const expiries_cache = new WeakMap<Detection, ReadonlyMap<string, number>>();

function getExpiries(detection: Detection): ReadonlyMap<string, number> {
  const expiries =
    expiries_cache.get(detection) ??
    new Map(
      detection.allowlist.map(({ fingerprint, tenant_id = null, expires_ms }) => [
        getKey(fingerprint, tenant_id),
        expires_ms,
      ]),
    );
  expiries_cache.set(detection, expiries);
  return expiries;
}

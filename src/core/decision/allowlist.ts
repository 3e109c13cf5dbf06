import { collectLeafTexts } from '../json/walk.ts';
import { isCoveredBy } from '../tags.ts';
import type {
  AllowedDetector,
  AllowlistedFinding,
  Crossing,
  Detection,
  Finding,
  Fingerprinter,
  Tag,
} from '../types/index.ts';
import { listActingAgents } from './rules.ts';

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
  const allowlistedFindings: AllowlistedFinding[] = [];
  for (const finding of found) {
    const { rule_id, leaf, start, end } = finding;
    if (!isAllowlistable(finding)) {
      findings.push(finding);
      continue;
    }
    const fingerprint = computeFingerprint(rule_id, texts.get(leaf)!.slice(start, end));
    const expiresMs = Math.max(
      expiries.get(getKey(fingerprint, null)) ?? 0,
      expiries.get(getKey(fingerprint, tenant_id)) ?? 0,
    );
    if (now_ms < expiresMs) allowlistedFindings.push({ ...finding, fingerprint });
    else findings.push(finding);
  }
  return { findings, allowlisted_findings: allowlistedFindings };
}

/**
 * Returns whether the match is the complete value. Commands and injections cannot be allowlisted: their match may be
 * a single word, and the harmful part can be outside of it. A finding about the whole content matches no value.
 */
export function isAllowlistable({ type, is_whole }: Finding): boolean {
  if (is_whole === true) return false;
  return type === 'secret_detected' || type === 'pii_detected' || type === 'content_detected';
}

function getKey(fingerprint: string, tenantId: string | null): string {
  return tenantId === null ? fingerprint : `${fingerprint} ${tenantId}`;
}

/** Commands that loosen the guard are never allowed. Secrets are allowed by value only. */
const NEVER_ALLOWED = ['dangerous.guard', 'secret'] as const;

/** Returns whether no entry allows a detector with these tags. */
export function isNeverAllowed(tags: readonly Tag[]): boolean {
  return tags.some((tag) => isCoveredBy(NEVER_ALLOWED, tag));
}

/** Marks the findings whose detector is allowed in this crossing with the allowlist entry's id. */
export function markAllowedFindings(
  crossing: Crossing,
  { allowed_detectors = [] }: Detection,
  found: readonly Finding[],
): readonly Finding[] {
  if (found.length === 0 || allowed_detectors.length === 0) return found;
  const entries = allowed_detectors.filter((entry) => matchesCrossing(entry, crossing));
  const ids = new Map(entries.map(({ rule_id, id }) => [rule_id, id]));
  if (ids.size === 0) return found;
  return found.map((finding) => {
    const allowedBy = ids.get(finding.rule_id);
    const isNever = finding.source === 'classifier' || isNeverAllowed(finding.tags);
    return allowedBy === undefined || isNever ? finding : { ...finding, allowed_by: allowedBy };
  });
}

/** All acting agents must be the entry's, so that naming a second agent never loosens a decision. */
function matchesCrossing(
  { tool, agent_id, tenant_id, expires_ms }: AllowedDetector,
  crossing: Crossing,
): boolean {
  if (crossing.now_ms >= expires_ms) return false;
  if (tenant_id !== null && tenant_id !== crossing.tenant_id) return false;
  if (tool !== null && (crossing.boundary !== 'action' || tool !== crossing.tool)) return false;
  return agent_id === null || listActingAgents(crossing).every((agent) => agent === agent_id);
}

const expiriesCache = new WeakMap<Detection, ReadonlyMap<string, number>>();

function getExpiries(detection: Detection): ReadonlyMap<string, number> {
  const expiries =
    expiriesCache.get(detection) ??
    new Map(
      detection.allowlist.map(({ fingerprint, tenant_id = null, expires_ms }) => [
        getKey(fingerprint, tenant_id),
        expires_ms,
      ]),
    );
  expiriesCache.set(detection, expiries);
  return expiries;
}

import { redact } from '../../core/decision/redact.ts';
import { detect } from '../../core/detect/detect.ts';
import type { Policy } from '../../core/types/index.ts';

/**
 * Returns a person's comment without control characters and with every finding masked; `null` if it is
 * blank.
 */
export function maskComment(written: string | null, policy: Policy): string | null {
  const plain = (written ?? '')
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  if (plain === '') return null;
  const content = { kind: 'text', text: plain } as const;
  const { findings, coverage } = detect(content, policy.detection, policy.limits);
  // A text that was not scanned in full may hold secrets.
  if (coverage.status !== 'full') return '[REDACTED]';
  const masked = redact(content, findings, policy.redaction.typed);
  return masked.kind === 'text' ? masked.text : null;
}

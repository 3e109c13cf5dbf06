import { redact } from '../../../core/decision/redact.ts';
import { detect } from '../../../core/detect/detect.ts';
import { writeContentJson } from '../../../core/json/source.ts';
import type { Content, Policy, Verdict } from '../../../core/types/index.ts';

/** What an approver is shown of the arguments. */
export interface MaskedArguments {
  /** JSON; where it was cut, the beginning of it. */
  readonly text: string;
  /** UTF-8 bytes before it was cut. */
  readonly bytes: number;
}

/** The content with all that was found masked, as JSON of at most `bytes_max` bytes. */
export function maskArguments(
  content: Content,
  { findings, allowlisted_findings, removed }: Pick<Verdict, 'findings' | 'allowlisted_findings' | 'removed'>,
  typed: boolean,
  bytes_max: number,
): MaskedArguments {
  // What was let be went on as it stood, and is no less a secret on a screen.
  const masked = redact(content, [...findings, ...allowlisted_findings], typed, removed);
  const bytes = Buffer.from(writeContentJson(masked));
  if (bytes.length <= bytes_max) return { text: bytes.toString('utf8'), bytes: bytes.length };
  // A decoder that expects more leaves out a character that the cut went through.
  const text = new TextDecoder().decode(bytes.subarray(0, bytes_max), { stream: true });
  return { text, bytes: bytes.length };
}

/** What a person wrote, without control characters and with all that detectors find masked; blank is nothing. */
export function maskComment(written: string | null, policy: Policy): string | null {
  const plain = (written ?? '')
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  if (plain === '') return null;
  const content = { kind: 'text', text: plain } as const;
  const { findings, coverage } = detect(content, policy.detection, policy.limits);
  // What was not looked at is not known to be clean.
  if (coverage.status !== 'full') return '[REDACTED]';
  const masked = redact(content, findings, policy.redaction.typed);
  return masked.kind === 'text' ? masked.text : null;
}

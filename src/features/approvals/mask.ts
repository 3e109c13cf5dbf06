import { maskAction } from '../../core/decision/shown-action.ts';
import { writeContentJson } from '../../core/json/source.ts';
import type { Content, Verdict } from '../../core/types/index.ts';

/** The arguments as an approver sees them. */
export interface MaskedArguments {
  /** JSON, possibly cut at the end. */
  readonly text: string;
  /** UTF-8 bytes before the text was cut. */
  readonly bytes: number;
}

/**
 * Returns the content as JSON, at most `bytesMax` bytes, with secrets, personal data and injections masked. A dangerous
 * command stays: an approver decides on it.
 */
export function maskArguments(
  content: Content,
  found: Pick<Verdict, 'findings' | 'allowlisted_findings' | 'removed'>,
  typed: boolean,
  bytesMax: number,
): MaskedArguments {
  const bytes = Buffer.from(writeContentJson(maskAction(content, found, typed)));
  if (bytes.length <= bytesMax) return { text: bytes.toString('utf8'), bytes: bytes.length };
  // In streaming mode the decoder drops a character that the cut split.
  const text = new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
  return { text, bytes: bytes.length };
}

import type { ReactNode } from 'react';

/** Characters that change the direction of text, have no width, or control a terminal. A name can hide behind them. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u2800\u3164\uffa0\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]/gu;
const LENGTH_MAX = 4_000;

interface SafeTextProps {
  /** Text from outside: names of agents and tools, reasons, notes. */
  readonly text: string | null | undefined;
  /** Shows line breaks and tabs as they are. */
  readonly has_lines?: boolean;
}

/**
 * Shows text that an agent, a tool or a user chose. It is never markup, its direction does not reach the text around it, and
 * characters that cannot be seen appear as their code point.
 */
export function SafeText({ text, has_lines = false }: SafeTextProps) {
  if (text === null || text === undefined || text === '') return <span className="muted">–</span>;
  const shown = text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)} …` : text;
  return <bdi className={has_lines ? 'lines' : undefined}>{splitHidden(shown, has_lines)}</bdi>;
}

function splitHidden(text: string, hasLines: boolean): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const character = match[0];
    if (hasLines && (character === '\n' || character === '\t')) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(
      <span key={match.index} className="hidden-character" title="A character that cannot be seen">
        {formatCodePoint(character)}
      </span>,
    );
    from = match.index + character.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Returns `U+202E` for a character. */
function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns text for places that take no elements, such as `title` and the names of files: hidden characters as code points. */
export function revealHidden(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `‹${formatCodePoint(character)}›`);
}

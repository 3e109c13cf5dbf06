/** Patterns that a user wrote, on an engine that takes linear time whatever pattern and text. */
import { RE2JS } from 're2js';
import type { LinearPattern } from '../detector.ts';
import { patternTree } from './pattern-tree.ts';
import { alphabetOf } from './required-anchor.ts';

/** Work of one unit that the engine looks at, and of each instruction of the pattern there. */
const UNIT_WORK = 8;
const INSTRUCTION_WORK = 1 / 2;

/** What a written pattern needs to be searched for; see `CustomPattern` for the limits. */
export interface LinearSource {
  readonly pattern: string;
  readonly before_units_max: number;
  readonly units_max: number;
}

/**
 * Compiles a pattern. The engine gets the part of the text that a match could take up and no more: from an anchor
 * as far as there are units of the pattern's alphabet, at most `before_units_max` before it and `units_max` in
 * all, and one more on each side, so that `\b` sees them.
 *
 * @throws RE2JSSyntaxException
 */
export function linearPattern({ pattern, before_units_max, units_max }: LinearSource): LinearPattern {
  const engine = RE2JS.compile(pattern);
  const unit_work = UNIT_WORK + engine.programSize() * INSTRUCTION_WORK;
  const group = Object.hasOwn(engine.namedGroups(), 'value') ? 'value' : 0;
  const alphabet = alphabetTable(pattern);
  const isIn = (text: string, at: number) => alphabet[Math.min(text.charCodeAt(at), ALPHABET_UNITS)] === 1;
  return {
    source: pattern,
    find: (text, anchor, least, meter) => {
      let from = anchor;
      const lowest = Math.max(least, anchor - before_units_max);
      while (from > lowest && isIn(text, from - 1)) from -= 1;
      let end = anchor;
      const highest = Math.min(text.length, anchor + units_max);
      while (end < highest && isIn(text, end)) end += 1;
      const context = Number(from > 0 && !isEscape(text, from));
      const window = text.slice(from - context, end + 1);
      const matcher = engine.matcher(window);
      for (
        let at = context;
        at <= window.length;
        at = matcher.end() + Number(matcher.end() === matcher.start())
      ) {
        meter.work += (window.length - at) * unit_work;
        if (meter.work > meter.allowed || !matcher.find(at)) return null;
        const shift = from - context;
        if (shift + matcher.start() > anchor) return null;
        if (shift + matcher.end() > anchor && matcher.start(group) >= 0)
          return [shift + matcher.start(group), shift + matcher.end(group)];
      }
      return null;
    },
  };
}

/** ASCII, one unit each, and all others as one. */
const ALPHABET_UNITS = 0x80;

function alphabetTable(pattern: string): Uint8Array {
  const table = new Uint8Array(ALPHABET_UNITS + 1);
  for (const set of alphabetOf(patternTree(pattern)))
    for (const [low, high] of set)
      table.fill(1, Math.min(low, ALPHABET_UNITS), Math.min(high, ALPHABET_UNITS) + 1);
  return table;
}

/** The letter of an escape (`\n`) before a match belongs to the escape, and is no part of a word. */
function isEscape(text: string, from: number): boolean {
  return from > 1 && text[from - 2] === '\\' && 'nrt'.includes(text[from - 1]!);
}

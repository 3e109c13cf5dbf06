import { parseAnchor } from './anchors.ts';
import { type Automaton, makeAutomaton, symbolsOfUnits } from './automaton.ts';
import { FINENESS, headOf } from './heads.ts';

/** All anchors, ready to be walked: the automata of their heads, and what a head is the head of. */
export interface Tables {
  /** What each of the 65,536 UTF-16 units is to both automata; those of ASCII stand for themselves. */
  readonly symbols: Uint8Array;
  readonly words: Automaton;
  readonly shapes: Automaton;
  /** Units after which it does not matter what came before. */
  readonly memory_units: number;
  /** Per head, by number: whose it is, as a place in the list of notations. */
  readonly notation: Uint16Array;
  /** Which of the notation's lengths. */
  readonly expansion: Uint8Array;
  /** Units from the beginning of the anchor to the end of the head. */
  readonly reach: Uint8Array;
}

/** A head ends at most as far behind its beginning: its units, one of context, and two of an escape. */
const AROUND_UNITS = 3;

/** Builds the tables of anchors in their notation. Throws where one is not in it. */
export function makeTables(notations: readonly string[]): Tables {
  const entries = notations.flatMap((notation, index) =>
    parseAnchor(notation).map((anchor, expansion) => ({ anchor, index, expansion })),
  );
  for (const fineness of FINENESS) {
    const heads = entries.map(({ anchor }) => headOf(anchor, fineness));
    const symbols = symbolsOfUnits(heads, fineness);
    const words = makeAutomaton(heads, 'word', symbols);
    const shapes = words === null ? null : makeAutomaton(heads, 'shape', symbols);
    if (words === null || shapes === null) continue;
    return {
      symbols,
      words,
      shapes,
      memory_units: AROUND_UNITS + heads.reduce((most, { sets }) => Math.max(most, sets.length), 0),
      notation: Uint16Array.from(entries, ({ index }) => index),
      expansion: Uint8Array.from(entries, ({ expansion }) => expansion),
      reach: Uint8Array.from(heads, ({ reach }) => reach),
    };
  }
  throw new Error(`${notations.length} anchors are more than an automaton can hold`);
}

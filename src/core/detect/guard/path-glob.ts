import { countSteps } from '../../steps.ts';

/** A compiled glob. */
export interface PathGlob {
  readonly test: (path: string) => boolean;
}

/** One sign of a glob: a run of units, one unit of a class, or one of several texts. */
type Sign =
  | { readonly kind: 'run'; readonly crosses_folders: boolean }
  | { readonly kind: 'unit'; readonly accepts: RegExp }
  | { readonly kind: 'texts'; readonly texts: readonly string[] };

const SIGN = /\*\*\/?|\*|\?|\[[!^]?[^\]/]{1,40}\]|\{[^{}/]{1,200}\}|[^*?[{]+|[\s\S]/g;

/**
 * Compiles a glob: `**` for any folders, `*`, `?`, `[abc]`, `{a,b}`. Other constructs match themselves. It is matched
 * from left to right with all places at once, because a backtracking expression takes forever for many stars.
 */
export function compilePathGlob(glob: string): PathGlob {
  countSteps(glob.length * SIGN_STEPS);
  const signs: Sign[] = [];
  for (const part of glob.match(SIGN) ?? []) {
    const sign = parseSign(part);
    const before = signs.at(-1);
    if (sign.kind !== 'run' || before?.kind !== 'run') signs.push(sign);
    else if (sign.crosses_folders) signs[signs.length - 1] = sign;
  }
  return { test: (path) => matchesSigns(signs, path) };
}

/** Steps to compile one unit of a glob, and to try one sign at one place. */
const SIGN_STEPS = 20;
/** Steps to compile a class. */
const CLASS_STEPS = 300;

function parseSign(part: string): Sign {
  if (part.startsWith('**')) return { kind: 'run', crosses_folders: true };
  if (part === '*') return { kind: 'run', crosses_folders: false };
  if (part === '?') return { kind: 'unit', accepts: /[^/]/ };
  if (part.length > 2 && part.startsWith('['))
    return { kind: 'unit', accepts: buildClass(part.slice(1, -1)) };
  if (part.length > 2 && part.startsWith('{')) return { kind: 'texts', texts: part.slice(1, -1).split(',') };
  return { kind: 'texts', texts: [part] };
}

function buildClass(inner: string): RegExp {
  countSteps(CLASS_STEPS);
  const isNegated = /^[!^]/.test(inner);
  const letters = (isNegated ? inner.slice(1) : inner).replace(/[\\\]^[]/g, '\\$&');
  // Shells reject a backward range as well.
  if (/.-./.test(letters) && !/^(?:[\w.]-[\w.]|[\w.])+$/.test(letters)) return /[^/]/;
  return new RegExp(`[${isNegated ? '^' : ''}${sanitizeRanges(letters)}]`);
}

function sanitizeRanges(letters: string): string {
  return letters.replace(/(.)-(.)/g, (range, from: string, to: string) => (from <= to ? range : from + to));
}

function matchesSigns(signs: readonly Sign[], path: string): boolean {
  let places: readonly number[] = [0];
  for (const sign of signs) {
    countSteps(places.length * SIGN_STEPS + (sign.kind === 'run' ? path.length : 0));
    places = [...new Set(advance(sign, path, places))];
    if (places.length === 0) return false;
  }
  return places.includes(path.length);
}

/** Returns the places after a sign that begins at any of the given places, in ascending order. */
function advance(sign: Sign, path: string, places: readonly number[]): readonly number[] {
  if (sign.kind === 'run') return advanceRun(path, places, sign.crosses_folders);
  if (sign.kind === 'unit')
    return places.filter((at) => at < path.length && sign.accepts.test(path[at]!)).map((at) => at + 1);
  const ends = places.flatMap((at) =>
    sign.texts.filter((text) => path.startsWith(text, at)).map((text) => at + text.length),
  );
  return sign.texts.length === 1 ? ends : ends.sort((a, b) => a - b);
}

function advanceRun(path: string, places: readonly number[], crossesFolders: boolean): readonly number[] {
  const starts = new Set(places);
  const found: number[] = [];
  let isOpen = false;
  for (let at = places[0]!; at <= path.length; at += 1) {
    isOpen = starts.has(at) || (isOpen && (crossesFolders || path[at - 1] !== '/'));
    if (isOpen) found.push(at);
  }
  return found;
}

import type { Detector, Named } from './detector.ts';
import type { Digits } from './pattern-digits.ts';

/**
 * Detectors by their numbers, and what is asked of them before one is tried. In the built program most are never made:
 * what their files hold runs when the first of a file is tried.
 */
export interface Roster {
  readonly count: number;
  /** Names of each in settings. */
  readonly nameAt: (index: number) => Named;
  /** Digits of a match; `null` if the detector does not state them. */
  readonly digitsAt: (index: number) => Digits | null;
  /** The numbers of those that know a value by the key before it. */
  readonly cued: readonly number[];
  readonly detectorAt: (index: number) => Detector;
}

/** A roster of detectors that are made already. */
export function rosterOf(detectors: readonly Detector[]): Roster {
  return {
    count: detectors.length,
    nameAt: (index) => detectors[index]!,
    digitsAt: (index) => detectors[index]!.digits ?? null,
    cued: detectors.flatMap((detector, index) => ('member' in detector ? [index] : [])),
    detectorAt: (index) => detectors[index]!,
  };
}

/** The same with others behind it. */
export function longerRoster(roster: Roster, more: readonly Detector[]): Roster {
  const { count } = roster;
  const behind = rosterOf(more);
  return {
    count: count + behind.count,
    nameAt: (index) => (index < count ? roster.nameAt(index) : behind.nameAt(index - count)),
    digitsAt: (index) => (index < count ? roster.digitsAt(index) : behind.digitsAt(index - count)),
    cued: [...roster.cued, ...behind.cued.map((index) => count + index)],
    detectorAt: (index) => (index < count ? roster.detectorAt(index) : behind.detectorAt(index - count)),
  };
}

/** One file of detectors; the function makes them. */
export type DetectorFile = () => readonly Detector[];

/** A roster as plain data, which the build makes of the detectors. */
export interface WrittenRoster {
  /** Number of detectors per file. */
  readonly counts: readonly number[];
  readonly cued: readonly number[];
  /** A line for each: its id, its family, what digits a match has (see `writeDigits`; or nothing), and its tags. */
  readonly lines: string;
}

/** Writes the roster of all detectors in the files. */
export function writeRoster(files: readonly DetectorFile[]): WrittenRoster {
  const all = files.map((file) => file());
  const roster = rosterOf(all.flat());
  const lines = all.flat().map(({ id, detector, tags }, index) => {
    const digits = roster.digitsAt(index);
    return [id, detector, digits === null ? '' : writeDigits(digits), ...tags].join(' ');
  });
  return { counts: all.map(({ length }) => length), cued: roster.cued, lines: lines.join('\n') };
}

/** The roster that the build wrote for these files. It loads a file when one of its detectors is needed. */
export function readRoster({ counts, cued, lines }: WrittenRoster, files: readonly DetectorFile[]): Roster {
  const line_of = lines.split('\n');
  const starts: number[] = [];
  let count = 0;
  for (const each of counts) {
    starts.push(count);
    count += each;
  }
  const partsAt = (index: number): readonly string[] => line_of[index]!.split(' ');
  return {
    count,
    nameAt: (index) => {
      const [id, detector, , tag, ...tags] = partsAt(index);
      return { id: id!, detector: detector!, tags: [tag!, ...tags] };
    },
    digitsAt: (index) => readDigits(partsAt(index)[2]!),
    cued,
    detectorAt: (index) => {
      const file = starts.findLastIndex((start) => start <= index);
      return files[file]!()[index - starts[file]!]!;
    },
  };
}

/** Writes `11/9,11/2/1`: the most, the lengths of those that are nothing else, what joins them, and whether few fit. */
function writeDigits({ most, lengths, joins, is_strict }: Digits): string {
  return `${most}/${lengths.join(',')}/${joins}/${Number(is_strict)}`;
}

function readDigits(written: string): Digits | null {
  if (written === '') return null;
  const [most, lengths, joins, is_strict] = written.split('/');
  return {
    most: Number(most),
    lengths: lengths === '' ? [] : lengths!.split(',').map(Number),
    joins: Number(joins),
    is_strict: is_strict === '1',
  };
}

import type { Detector, DetectorIdentity } from './detector.ts';
import type { DigitProfile } from './digit-profile.ts';

/**
 * Detectors by number, with the facts that a scan needs before it tries one. In the built program most detectors are
 * never created: their file runs when the first of its detectors is tried.
 */
export interface DetectorTable {
  readonly count: number;
  readonly identityAt: (index: number) => DetectorIdentity;
  /** The digits of a match; `null` if the detector does not state them. */
  readonly digitProfileAt: (index: number) => DigitProfile | null;
  /** The numbers of the detectors with `member`, which check the value after a key. */
  readonly member_detectors: readonly number[];
  readonly detectorAt: (index: number) => Detector;
}

/** Creates a table of detectors that already exist. */
export function createDetectorTable(detectors: readonly Detector[]): DetectorTable {
  return {
    count: detectors.length,
    identityAt: (index) => detectors[index]!,
    digitProfileAt: (index) => detectors[index]!.digit_profile ?? null,
    member_detectors: detectors.flatMap((detector, index) => ('member' in detector ? [index] : [])),
    detectorAt: (index) => detectors[index]!,
  };
}

/** Returns the table with more detectors at the end. */
export function appendDetectors(table: DetectorTable, more: readonly Detector[]): DetectorTable {
  const { count } = table;
  const added = createDetectorTable(more);
  return {
    count: count + added.count,
    identityAt: (index) => (index < count ? table.identityAt(index) : added.identityAt(index - count)),
    digitProfileAt: (index) =>
      index < count ? table.digitProfileAt(index) : added.digitProfileAt(index - count),
    member_detectors: [...table.member_detectors, ...added.member_detectors.map((index) => count + index)],
    detectorAt: (index) => (index < count ? table.detectorAt(index) : added.detectorAt(index - count)),
  };
}

/** One file of detectors, as a function that creates them. */
export type DetectorFile = () => readonly Detector[];

/** A table as plain data, which the build writes. */
export interface SerializedDetectorTable {
  /** The number of detectors of each file. */
  readonly counts: readonly number[];
  readonly member_detectors: readonly number[];
  /** One line per detector: its id, its family, its digits (see `formatDigitProfile`; may be empty), and its tags. */
  readonly lines: string;
}

/** Writes the table of all detectors in the files. */
export function serializeDetectorTable(files: readonly DetectorFile[]): SerializedDetectorTable {
  const all = files.map((file) => file());
  const table = createDetectorTable(all.flat());
  const lines = all.flat().map(({ id, detector, tags }, index) => {
    const digits = table.digitProfileAt(index);
    return [id, detector, digits === null ? '' : formatDigitProfile(digits), ...tags].join(' ');
  });
  return {
    counts: all.map(({ length }) => length),
    member_detectors: table.member_detectors,
    lines: lines.join('\n'),
  };
}

/** Reads the table that was written for these files. A file runs when one of its detectors is needed. */
export function parseDetectorTable(
  { counts, member_detectors, lines }: SerializedDetectorTable,
  files: readonly DetectorFile[],
): DetectorTable {
  const lineOf = lines.split('\n');
  const starts: number[] = [];
  let count = 0;
  for (const each of counts) {
    starts.push(count);
    count += each;
  }
  const partsAt = (index: number): readonly string[] => lineOf[index]!.split(' ');
  return {
    count,
    identityAt: (index) => {
      const [id, detector, , tag, ...tags] = partsAt(index);
      return { id: id!, detector: detector!, tags: [tag!, ...tags] };
    },
    digitProfileAt: (index) => parseDigitProfile(partsAt(index)[2]!),
    member_detectors,
    detectorAt: (index) => {
      const file = starts.findLastIndex((start) => start <= index);
      return files[file]!()[index - starts[file]!]!;
    },
  };
}

/** Writes `11/9,11/2/1`: most digits, plain lengths, other kinds, and whether the profile is strict. */
function formatDigitProfile({ digits_max, plain_lengths, other_kinds, is_strict }: DigitProfile): string {
  return `${digits_max}/${plain_lengths.join(',')}/${other_kinds}/${Number(is_strict)}`;
}

function parseDigitProfile(written: string): DigitProfile | null {
  if (written === '') return null;
  const [most, lengths, joins, isStrict] = written.split('/');
  return {
    digits_max: Number(most),
    plain_lengths: lengths === '' ? [] : lengths!.split(',').map(Number),
    other_kinds: Number(joins),
    is_strict: isStrict === '1',
  };
}

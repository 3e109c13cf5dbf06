import { readFile } from 'node:fs/promises';

/** Counts of a built-in detector on labelled rows, and on the files and commands of an ordinary day. */
export interface ShownDetectorFigures {
  /** Labelled rows with something to find, and benign ones, in which the detector finds something. */
  readonly labelled_found: number;
  readonly labelled_benign: number;
  readonly ordinary_found: number;
  readonly ordinary_stopped: number;
  /** The number of files and commands that were scanned. */
  readonly ordinary_files: number;
  readonly ordinary_commands: number;
}

interface FigureFile {
  readonly labelled: { readonly detectors: Readonly<Record<string, readonly [number, number]>> };
  readonly ordinary: {
    readonly files: number;
    readonly commands: number;
    readonly detectors: Readonly<Record<string, readonly [number, number, number]>>;
  };
}

const SHIPPED_FILE = new URL('../../../data/detector-figures.json', import.meta.url);

/** Reads the figures of a detector from the file that the package carries. */
export async function loadDetectorFigures(id: string): Promise<ShownDetectorFigures> {
  const { labelled, ordinary } = JSON.parse(await readFile(SHIPPED_FILE, 'utf8')) as FigureFile;
  const [labelledFound, labelledBenign] = labelled.detectors[id] ?? [0, 0];
  const [, ordinaryFound, ordinaryStopped] = ordinary.detectors[id] ?? [0, 0, 0];
  return {
    labelled_found: labelledFound,
    labelled_benign: labelledBenign,
    ordinary_found: ordinaryFound,
    ordinary_stopped: ordinaryStopped,
    ordinary_files: ordinary.files,
    ordinary_commands: ordinary.commands,
  };
}

import {
  buildDetectorCatalogue,
  type DetectorCatalogueEntry,
} from '../../src/core/detect/registry/detector-catalogue.ts';
import { type DetectorFigures, readDetectorFigures } from '../quality/detector-figures.ts';

/** A generated page. */
interface Page {
  readonly path: string;
  readonly text: string;
}

/**
 * The characters of a found value that an example shows. With a whole sample key, code hosts would reject a
 * push of this page.
 */
const SHOWN_MAX = 6;
const EXAMPLE_CHARACTERS_MAX = 70;

/** The context that a detector needs, by its evidence. */
const CONTEXT: Readonly<Record<DetectorCatalogueEntry['evidence'], string>> = {
  cue: 'a word next to the value',
  shape: 'none: the form of the value decides',
  proof: 'none: a prefix, a checksum or a parsed structure decides',
  command: 'a command that would run',
};
const PHRASES = 'other phrases within 500 characters: their weights add up to the severity';

/** Returns the index `docs/reference/detectors.md` and a page for each family of detectors. */
export function renderDetectorPages(): readonly Page[] {
  const figures = readDetectorFigures();
  const families = [...Map.groupBy(buildDetectorCatalogue(), ({ family }) => family).entries()].sort(
    ([a], [b]) => (a < b ? -1 : 1),
  );
  return [
    { path: 'docs/reference/detectors.md', text: renderIndexPage(families, figures) },
    ...families.map(([family, entries]) => ({
      path: `docs/reference/detectors/${family}.md`,
      text: renderFamilyPage(family, entries, figures),
    })),
  ];
}

type Family = readonly [name: string, entries: readonly DetectorCatalogueEntry[]];

function renderIndexPage(families: readonly Family[], figures: DetectorFigures): string {
  const kinds = [...Map.groupBy(families, ([, entries]) => getKind(entries)).entries()].sort();
  const sections = kinds.map(([kind, list]) => {
    const rows = list.map(([family, entries]) => {
      const severities = [...new Set(entries.map(({ severity }) => severity))].sort().join(', ');
      const cells = [
        `[${family}](detectors/${family}.md)`,
        entries.length,
        severities,
        ...sumFigures(entries, figures),
      ];
      return `| ${cells.join(' | ')} |`;
    });
    return `## ${kind}\n\n| Family | Detectors | Severities | ${FIGURE_HEADS.join(' | ')} |\n|---|---|---|${FIGURE_HEADS.map(() => '---|').join('')}\n${rows.join('\n')}`;
  });
  return `# Detectors

<!-- Made by \`npm run generate\` from the detectors. -->

This reference is for operators who tune detection. Each family of detectors has a page with its ids, tags, severities, examples and figures. A family is the
\`detector\` of a violation, and an id is its \`rule_id\` and the name that \`detection.detectors\` takes, as in
\`detection: {detectors: {ip.v4: {enabled: false}}}\`. \`customshouse detectors show ID\` prints the same facts.

${explainFigures(figures)}

${sections.join('\n\n')}
`;
}

const FIGURE_HEADS = [
  'Labelled rows found',
  'Benign rows found',
  'Ordinary day: files',
  'Ordinary day: stopped',
];

function explainFigures({ labelled, ordinary }: DetectorFigures): string {
  const rows = Object.entries(labelled.rows).map(
    ([category, [positives, benign]]) => `${category} ${positives} and ${benign}`,
  );
  return `The figures have two sources. **Labelled rows** are those of the [detection figures](detection-figures.md): rows with something to find, and benign
rows (${rows.join('; ')}). A row counts for each detector that finds something in it. The **ordinary day** is
${ordinary.files} files (${ordinary.megabytes} MB) and ${ordinary.commands} commands of published packages: the files or commands in which the detector finds something,
and those that the policy then masks or stops. \`-\` means none.`;
}

function renderFamilyPage(
  family: string,
  entries: readonly DetectorCatalogueEntry[],
  figures: DetectorFigures,
): string {
  const tags = [...new Set(entries.flatMap((entry) => entry.tags))].sort();
  const isLong = tags.length > TAGS_SHOWN_MAX;
  const head = [
    'Id',
    'Severity',
    'Context that it needs',
    'Target',
    'Finds',
    'Does not find',
    ...FIGURE_HEADS,
  ];
  const rows = entries.map(
    (entry) => `| ${[...describeDetector(entry), ...getFigures(entry.id, figures)].join(' | ')} |`,
  );
  return `# Detectors of ${family}

<!-- Made by \`npm run generate\` from the detectors. -->

This reference is for operators who tune detection of the kind \`${getKind(entries)}\`. It lists the ${entries.length} built-in detectors of the family \`${family}\`, the
\`detector\` of a violation. ${getKind(entries) === 'secret' ? 'Secrets in examples are shortened. ' : ''}The [index](../detectors.md) explains the figures and names the other families.

Tags: ${tags
    .slice(0, TAGS_SHOWN_MAX)
    .map((tag) => `\`${tag}\``)
    .join(' ')}${isLong ? ` and ${tags.length - TAGS_SHOWN_MAX} more` : ''}.

| ${head.join(' | ')} |
|${head.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

const TAGS_SHOWN_MAX = 12;

function getKind(entries: readonly DetectorCatalogueEntry[]): string {
  return entries[0]!.tags[0]!.split('.')[0]!;
}

function describeDetector(entry: DetectorCatalogueEntry): readonly string[] {
  const { id, severity, evidence, tags, description, hits, misses } = entry;
  const isSecret = tags[0]!.startsWith('secret.');
  const context = tags[0]!.startsWith('injection.') ? PHRASES : CONTEXT[evidence];
  return [
    `\`${id}\``,
    severity,
    context,
    escapeTableText(description),
    getExample(hits, isSecret),
    isSecret ? '' : getExample(misses, false),
  ];
}

function getFigures(id: string, { labelled, ordinary }: DetectorFigures): readonly string[] {
  const [found = 0, wrong = 0] = labelled.detectors[id] ?? [];
  const [, files = 0, stopped = 0] = ordinary.detectors[id] ?? [];
  return [found, wrong, files, stopped].map(formatCount);
}

function sumFigures(
  entries: readonly DetectorCatalogueEntry[],
  { labelled, ordinary }: DetectorFigures,
): readonly string[] {
  const sums = [0, 0, 0, 0];
  for (const { id } of entries) {
    const [found = 0, wrong = 0] = labelled.detectors[id] ?? [];
    const [, files = 0, stopped = 0] = ordinary.detectors[id] ?? [];
    [found, wrong, files, stopped].forEach((count, at) => {
      sums[at]! += count;
    });
  }
  return sums.map(formatCount);
}

function formatCount(count: number): string {
  return count === 0 ? '-' : String(count);
}

/** Returns the first example of one line, which fits a table. A secret in it is shortened. */
function getExample(examples: readonly string[], isSecret: boolean): string {
  const found = examples
    .map((example) =>
      example.replaceAll(/«([\s\S]*?)»/g, (_whole, value: string) =>
        isSecret ? shortenValue(value) : value,
      ),
    )
    .find((example) => !/[\n\r`\p{C}]/u.test(example) && example.length <= EXAMPLE_CHARACTERS_MAX);
  return found === undefined ? '' : `\`${found.replaceAll('|', '\\|')}\``;
}

function shortenValue(value: string): string {
  return value.length <= SHOWN_MAX + 1 ? value : `${value.slice(0, SHOWN_MAX)}…`;
}

function escapeTableText(sentence: string): string {
  return sentence.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

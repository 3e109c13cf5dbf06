import {
  buildDetectorCatalogue,
  type DetectorCatalogueEntry,
} from '../../src/core/detect/registry/detector-catalogue.ts';

const HEAD = `# Detectors

<!-- Made by \`npm run generate\` from the detectors. -->

This reference is for operators who tune detection. Each row is one built-in detector. Its id is the \`rule_id\` of a violation and the name that
\`detection.detectors\` takes, as in \`detection: {detectors: {ip.v4: {enabled: false}}}\`. \`service detectors show ID\` prints a
detector with all its examples. Secrets in examples are shortened. [Dangerous commands](commands.md) are on another page.

The evidence is the basis of the decision: a \`cue\` is a word next to the value, a \`shape\` is the form of the value, a \`proof\` is a
prefix, a checksum or a parsed structure.`;

/**
 * The characters of a found value that an example shows. With a whole sample key, code hosts would reject a
 * push of this page.
 */
const SHOWN_MAX = 6;
const EXAMPLE_CHARACTERS_MAX = 70;

/** Returns the text of `docs/reference/detectors.md`. */
export function detectorsPage(): string {
  const entries = buildDetectorCatalogue().filter(({ evidence }) => evidence !== 'command');
  const families = [...new Set(entries.map(({ tags }) => tags[0]!.split('.')[0]!))].sort();
  const sections = families.map((family) => {
    const rows = entries.filter(({ tags }) => tags[0]!.startsWith(`${family}.`)).map(getRow);
    const head =
      '| Id | Family | Severity | Evidence | Tags | What it finds | Example |\n|---|---|---|---|---|---|---|';
    return `## ${family} (${rows.length})\n\n${head}\n${rows.join('\n')}`;
  });
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

function getRow({ id, family, severity, evidence, tags, description, hits }: DetectorCatalogueEntry): string {
  const is_secret = tags[0]!.startsWith('secret.');
  const cells = [
    `\`${id}\``,
    family,
    severity,
    evidence,
    tags.map((tag) => `\`${tag}\``).join(' '),
    text(description),
  ];
  return `| ${cells.join(' | ')} | ${getExample(hits, is_secret)} |`;
}

/** Returns the first example of one line, which fits a table. A secret in it is shortened. */
function getExample(hits: readonly string[], is_secret: boolean): string {
  const found = hits
    .map((hit) =>
      hit.replaceAll(/«([\s\S]*?)»/g, (_whole, value: string) => (is_secret ? shortened(value) : value)),
    )
    .find((hit) => !/[\n\r`\p{C}]/u.test(hit) && hit.length <= EXAMPLE_CHARACTERS_MAX);
  return found === undefined ? '' : `\`${found.replaceAll('|', '\\|')}\``;
}

function shortened(value: string): string {
  return value.length <= SHOWN_MAX + 1 ? value : `${value.slice(0, SHOWN_MAX)}…`;
}

function text(sentence: string): string {
  return sentence.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

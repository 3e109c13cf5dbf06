import { replaceUnprintable } from '../../../core/text/unprintable.ts';
import type { Json, JsonObject } from '../../../core/types/index.ts';
import type { DraftedContract, DraftReason } from './tool-description.ts';

/**
 * Writes drafted contracts as a YAML document, each part with its reason as a comment. Comments are fixed sentences, and every
 * name of a tool, argument or field is a quoted scalar unless it is plain ASCII, so that no text from outside becomes YAML.
 *
 * @param heading lines for the beginning, of the caller's own words
 */
export function formatDraft(drafts: readonly DraftedContract[], heading: readonly string[]): string {
  const head = heading.map((line) => `# ${line}`);
  const body = drafts.flatMap(({ contract, reasons }) => ['', ...writeContract(contract, reasons)]);
  const lines = [...head, 'version: v1alpha1', drafts.length === 0 ? 'contracts: []' : 'contracts:', ...body];
  return `${lines.join('\n')}\n`;
}

/** Members that are written in blocks, by their place. Everything else is in one line. */
const BLOCKS: readonly (readonly string[])[] = [
  ['arguments'],
  ['arguments', 'properties'],
  ['emits'],
  ['emits', 'labels'],
  ['flow'],
  ['flow', 'arguments'],
];

function writeContract(contract: JsonObject, reasons: readonly DraftReason[]): readonly string[] {
  const lines: string[] = [];
  const write = (value: JsonObject, place: readonly string[], indent: string): void => {
    for (const [name, member] of Object.entries(value)) {
      const here = [...place, name];
      const key = `${indent}${formatScalar(name)}:`;
      const note = formatReason(here, reasons);
      if (BLOCKS.some((each) => isSamePlace(each, here)) && isFilledObject(member)) {
        lines.push(`${key}${note}`);
        write(member, here, `${indent}  `);
      } else lines.push(`${key} ${formatFlow(member)}${note}`);
    }
  };
  write(contract, [], '    ');
  lines[0] = `  - ${lines[0]!.trimStart()}${formatReason([], reasons)}`;
  return lines;
}

function formatReason(place: readonly string[], reasons: readonly DraftReason[]): string {
  const found = reasons.find((each) => isSamePlace(each.place, place));
  return found === undefined ? '' : `  # ${found.reason}`;
}

function isSamePlace(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((step, at) => step === other[at]);
}

function isFilledObject(value: Json): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

function formatFlow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(formatFlow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value as JsonObject).map(
      ([name, each]) => `${formatScalar(name)}: ${formatFlow(each)}`,
    );
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  return formatScalar(value as string | number | boolean | null);
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_./*-]{0,127}$/;
/** Words that YAML 1.1 or 1.2 reads as other than text. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function formatScalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (PLAIN.test(value) && !RESERVED.test(value)) return value;
  return replaceUnprintable(JSON.stringify(value), escapeCharacter);
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}

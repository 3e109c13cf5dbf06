/** The lists of policy documents to which a page adds a draft. */
export type RecordList = 'contracts' | 'policies';

/** The end of an installed template or skill, whose text stays as it was installed. */
const PART_END = /^# (?:Template|Skill) \S+ ends$/m;

/**
 * Returns a policy text with the records of a YAML list at its end. A document holds one list, so records go into the last
 * document if that ends with their list, and otherwise into a new document. All other bytes stay.
 */
export function appendRecords(text: string, list: RecordList, recordsText: string): string {
  const kept = text.trimEnd();
  const indent = findListIndent(kept, list);
  const head =
    indent === null ? `${kept === '' ? '' : `${kept}\n---\n`}version: v1alpha1\n${list}:\n` : `${kept}\n`;
  const records = recordsText.trimEnd().replaceAll(/^(?=.)/gm, indent ?? '  ');
  return `${head}${records}\n`;
}

/** Returns the indent of the entries of the list with which the last document ends; `null` if it ends with another key. */
function findListIndent(text: string, list: RecordList): string | null {
  const last = text.split(/^---(?:\s.*)?$/m).at(-1) ?? '';
  const keys = last.match(/^[\w-]+:.*$/gm) ?? [];
  if (PART_END.test(last) || keys.at(-1) !== `${list}:`) return null;
  return /^( *)- /m.exec(last.slice(last.indexOf(`${list}:`)))?.[1] ?? null;
}

import type { Tag } from '../types.ts';

/** A statement's first words, as far as they tell it from a sentence that begins with the same word. */
const STATEMENTS: readonly (readonly [words: string, kind: string, pattern: RegExp])[] = [
  ['select', 'select', /^(?:select\s[\s\S]{1,4000}?\sfrom\s|select\s+(?:[\d'*(]|[\w.]+\())/i],
  [
    'with',
    'select',
    /^with\s+(?:recursive\s+)?[\w"`]+\s*(?:\([^)]{0,500}\)\s*)?as\s*(?:not\s+materialized\s*|materialized\s*)?\(/i,
  ],
  ['insert replace', 'insert', /^(?:insert\s+(?:ignore\s+|or\s+\w+\s+)?into|replace\s+into)\s+[\w."`[]/i],
  ['update', 'update', /^update\s+[\w."`[\]]{1,200}\s+(?:as\s+\w+\s+)?set\s/i],
  ['delete', 'delete', /^delete\s+from\s+[\w."`[]/i],
  ['merge', 'merge', /^merge\s+into\s+[\w."`[]/i],
  [
    'drop',
    'drop',
    /^drop\s+(?:database|schema|table|view|index|user|role|function|sequence|trigger|type|extension|keyspace)\s/i,
  ],
  ['truncate', 'truncate', /^truncate\s+(?:table\s+)?[\w."`[]/i],
  [
    'alter',
    'alter',
    /^alter\s+(?:database|schema|table|view|index|user|role|function|sequence|type|system)\s/i,
  ],
  [
    'create',
    'create',
    /^create\s+(?:or\s+replace\s+|unique\s+|temp(?:orary)?\s+|materialized\s+)?(?:database|schema|table|view|index|user|role|function|procedure|sequence|trigger|type|extension)\s/i,
  ],
  ['grant', 'grant', /^grant\s+[\w ,()]{1,300}\s(?:on|to)\s/i],
  ['revoke', 'revoke', /^revoke\s+[\w ,()]{1,300}\s(?:on|from)\s/i],
  ['copy', 'copy', /^copy\s+(?:[\w."`]+|\()[\s\S]{0,500}?\s(?:from|to)\s/i],
  ['call exec execute', 'call', /^(?:call|exec(?:ute)?)\s+[\w."`[\]]{1,200}\s*[(@;]/i],
];
const STATEMENT_UNITS = 5000;

const by_word = new Map<string, (typeof STATEMENTS)[number][]>();
for (const statement of STATEMENTS)
  for (const word of statement[0].split(' ')) by_word.set(word, [...(by_word.get(word) ?? []), statement]);

/** The kinds of the SQL statements that a text is made of: `sql.select`, `sql.delete` ... */
export function sqlTags(text: string): readonly Tag[] {
  const tags = new Set<Tag>();
  for (const statement of text.split(';')) {
    const bare = statement.slice(0, STATEMENT_UNITS).replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[^*]*\*\/)+/, '');
    const word = /^[a-z]{4,8}/i.exec(bare)?.[0].toLowerCase() ?? '';
    const found = by_word.get(word)?.find(([, , pattern]) => pattern.test(bare));
    if (found !== undefined) tags.add(`sql.${found[1]}`);
  }
  return [...tags];
}

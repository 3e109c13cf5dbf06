import { removeSqlText } from '../facts/sql-tokens.ts';

/**
 * Classifies SQL statements that lose data or grant rights, by their first words. Text in quotes is not a
 * statement.
 */

const DESTRUCTIVE =
  /\bdrop[ \t\r\n]+(?:database|schema|table|keyspace|collection|tablespace|owned|user|role|view|index|function|sequence|extension|publication|type|trigger)\b|\btruncate[ \t\r\n]+(?:table[ \t\r\n]+)?[\w."`[*]|\balter[ \t\r\n]+table[ \t\r\n]+[\w."`[\]]{1,100}[ \t\r\n]+drop\b/i;
const WHOLE = /\bdrop[ \t\r\n]+(?:database|schema|keyspace)\b/i;
const DELETE = /^[ \t\r\n]*delete[ \t\r\n]+from[ \t\r\n]+[\w."`[\]*]/i;
const UPDATE = /^[ \t\r\n]*update[ \t\r\n]+[\w."`[\]]{1,100}[ \t\r\n]+set\b/i;
const GRANT =
  /\bgrant[ \t\r\n]+(?:all(?:[ \t]+privileges)?[ \t]+on[ \t]+(?:\*\.\*|all\b|database\b)|[\w, ]{0,60}superuser)|\balter[ \t\r\n]+(?:user|role)[ \t\r\n]+[\w"`]{1,100}[ \t\r\n]+(?:with[ \t\r\n]+)?(?:superuser|password)|\bcopy\b[^;]{0,200}\b(?:from|to)[ \t\r\n]+program\b|\bxp_cmdshell\b|\binto[ \t\r\n]+(?:outfile|dumpfile)\b|\bload_file[ \t]*\(/i;

export type SqlDamage = 'drops_whole' | 'destroys' | 'deletes_all' | 'grants' | null;

/** Returns the worst effect of a text of SQL; `null` if it has none of them. */
export function classifySqlDamage(text: string): SqlDamage {
  const bare = removeSqlText(text);
  if (WHOLE.test(bare)) return 'drops_whole';
  if (DESTRUCTIVE.test(bare)) return 'destroys';
  for (const statement of bare.split(';')) {
    const hasWhere = /\bwhere\b(?![ \t\r\n]+(?:1[ \t]*=[ \t]*1|true)\b)/i.test(statement);
    if ((DELETE.test(statement) || UPDATE.test(statement)) && !hasWhere) return 'deletes_all';
  }
  return GRANT.test(bare) ? 'grants' : null;
}

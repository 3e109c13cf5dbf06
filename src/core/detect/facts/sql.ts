import type { Tag } from '../../types/index.ts';
import { listSqlReadings, type SqlToken, tokenizeSql } from './sql-tokens.ts';
import {
  findGroupEnd,
  findNameEnd,
  findWord,
  getWord,
  hasAhead,
  hasSign,
  isSqlCall,
  isSqlName,
  isSqlSign,
  isSqlWord,
  LOOKAHEAD_MAX,
  skipWords,
} from './sql-words.ts';

/** The kind of a statement: the ending of a tag `sql.*`. */
type Kind =
  | 'alter'
  | 'call'
  | 'copy'
  | 'create'
  | 'delete'
  | 'drop'
  | 'grant'
  | 'insert'
  | 'merge'
  | 'revoke'
  | 'select'
  | 'truncate'
  | 'update';

/** The most levels of statements in strings of statements that are parsed. */
const DEPTH_MAX = 3;
const HAS_VERB =
  /select|insert|replace|upsert|update|delete|merge|drop|truncate|alter|create|grant|revoke|deny|copy|call|exec|load|bulk|attach|vacuum|restore|backup|rename|refresh|pragma|handler|shutdown|\bdo\b/i;

/** Returns the kinds of the SQL statements in a text, as tags: `sql.select`, `sql.delete` ... Linear. */
export function findSqlTags(text: string): readonly Tag[] {
  if (!HAS_VERB.test(text) && !HAS_VERB.test(text.replace(/\/\*.{0,100}?\*\//gs, ''))) return [];
  const kinds = new Set<Kind>();
  addKinds(kinds, text, 0);
  return [...kinds].map((kind) => `sql.${kind}`);
}

function addKinds(kinds: Set<Kind>, text: string, depth: number): void {
  for (const reading of listSqlReadings(text)) {
    const tokens = tokenizeSql(text, reading);
    let start = 0;
    for (let at = 0; at <= tokens.length; at += 1) {
      if (at < tokens.length && !isSqlSign(tokens[at], ';')) continue;
      if (at > start) addStatement(kinds, tokens.slice(start, at), depth);
      start = at + 1;
    }
  }
}

/**
 * Words that begin a statement that contains other statements. Each has a condition for the rest, because
 * sentences begin with these words as well.
 */
const HOLDERS: ReadonlyMap<string, (rest: readonly SqlToken[]) => boolean> = new Map<
  string,
  (rest: readonly SqlToken[]) => boolean
>([
  [
    'with',
    (rest) =>
      rest.slice(0, 40).some((token, at) => isSqlWord(token, 'as') && isSqlSign(rest[at + 1], '(')) ||
      hasMaterialized(rest),
  ],
  ['begin', (rest) => rest.length > 0],
  ['declare', (rest) => rest.length > 1],
  ['if', hasCondition],
  ['while', hasCondition],
  ['for', hasCondition],
  ['else', () => true],
  ['end', () => true],
  ['loop', () => true],
  ['then', () => true],
  ['go', () => true],
  ['use', (rest) => rest.length > 1],
  ['set', hasCondition],
  [
    'prepare',
    (rest) => rest.slice(0, 40).some((token) => isSqlWord(token, 'as') || isSqlWord(token, 'from')),
  ],
  ['do', (rest) => rest.slice(0, 4).some(({ kind }) => kind === 'string')],
  ['values', (rest) => isSqlSign(rest[0], '(')],
]);

function hasMaterialized(rest: readonly SqlToken[]): boolean {
  return rest
    .slice(0, 40)
    .some((token, at) => isSqlWord(token, 'materialized') && isSqlSign(rest[at + 1], '('));
}

function hasCondition(rest: readonly SqlToken[]): boolean {
  return rest
    .slice(0, LOOKAHEAD_MAX)
    .some(
      (token) =>
        isSqlSign(token, '=') || isSqlSign(token, '(') || isSqlSign(token, '@') || token.text.startsWith('@'),
    );
}

function addStatement(kinds: Set<Kind>, statement: readonly SqlToken[], depth: number): void {
  let from = 0;
  while (from < statement.length && (isSqlSign(statement[from], '(') || isSqlSign(statement[from], '\\')))
    from += 1;
  const first = statement[from];
  // Commands of psql: `\copy`, `\!`.
  if (isSqlSign(statement[from - 1], '\\') && (isSqlWord(first, 'copy') || isSqlSign(first, '!')))
    kinds.add(isSqlWord(first, 'copy') ? 'copy' : 'call');
  if (first?.kind !== 'word') return;
  if (first.text === 'explain' || first.text === 'describe' || first.text === 'desc') {
    addExplained(kinds, statement.slice(from + 1), depth);
    return;
  }
  const rest = statement.slice(from + 1);
  const own = classifyAt(statement, from);
  const holds = HOLDERS.get(first.text)?.(rest) === true;
  if (own.length === 0 && !holds) return;
  if (first.text === 'with') kinds.add('select');
  // More statements can follow without a separator (T-SQL), or be inside this one.
  for (let at = from; at < statement.length; at += 1)
    if (statement[at]!.kind === 'word') for (const kind of classifyAt(statement, at)) kinds.add(kind);
  const runsStrings =
    own.includes('call') || /^(?:do|prepare|set|declare|begin|if)$/.test(first.text) || kinds.has('call');
  if (!runsStrings || depth >= DEPTH_MAX) return;
  for (const { kind, text } of statement)
    if (kind === 'string' && HAS_VERB.test(text)) addKinds(kinds, text, depth + 1);
}

/** Adds the kinds of an explained statement. A plan runs nothing, unless `analyze` runs the statement. */
function addExplained(kinds: Set<Kind>, rest: readonly SqlToken[], depth: number): void {
  let at = 0;
  let isRun = false;
  if (isSqlSign(rest[0], '(')) {
    for (; at < rest.length && !isSqlSign(rest[at], ')'); at += 1)
      if (isAnalyze(rest[at]) && !/^(?:false|off|0)$/.test(rest[at + 1]?.text ?? '')) isRun = true;
    at += 1;
  }
  for (
    ;
    at < rest.length &&
    /^(?:analy[sz]e|verbose|extended|format|=|json|tree|traditional|query|plan|for|buffers|partitions|pipeline|syntax)$/.test(
      rest[at]!.text,
    );
    at += 1
  )
    if (isAnalyze(rest[at])) isRun = true;
  const inner = rest.slice(at);
  const explained = new Set<Kind>();
  addStatement(explained, inner, depth);
  if (explained.size === 0) return;
  if (isRun) for (const kind of explained) kinds.add(kind);
  else kinds.add('select');
}

function isAnalyze(token: SqlToken | undefined): boolean {
  return token !== undefined && /^analy[sz]e$/.test(token.text);
}

const NONE: readonly Kind[] = [];

/**
 * Returns the kinds of the statement that begins at a token; none if the word belongs to another statement or
 * to a sentence.
 */
function classifyAt(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  const read = Object.hasOwn(VERBS, tokens[at]!.text) ? VERBS[tokens[at]!.text]! : null;
  return read === null ? NONE : read(tokens, at + 1);
}

type ReadVerb = (tokens: readonly SqlToken[], at: number) => readonly Kind[];

const OBJECTS =
  /^(?:aggregate|assembly|cast|catalog|certificate|collation|column|connection|constraint|conversion|credential|database|directory|domain|event|extension|external|foreign|function|global|group|index|keyspace|language|library|login|macro|materialized|model|namespace|operator|owned|package|partition|pipe|policy|procedure|proc|profile|publication|role|routine|rule|schema|secret|sequence|server|session|share|stage|statistics|stream|subscription|synonym|system|table|tablespace|task|temp|temporary|text|topic|transform|trigger|type|unique|unlogged|user|view|virtual|volume|warehouse)$/;
const CREATE_WORDS =
  /^(?:or|replace|alter|unique|temp|temporary|global|local|unlogged|materialized|external|recursive|force|editionable|noneditionable|clustered|nonclustered|virtual|transient|secure|shared|public|fulltext|spatial|bitmap|hypothetical|algorithm|definer|sql|security|invoker|undefined|temptable|if|not|exists|constraint|columnstore)$/;

const VERBS: Readonly<Record<string, ReadVerb>> = {
  select: readSelect,
  insert: readInsert,
  replace: (tokens, at) =>
    isSqlWord(tokens[skipWords(tokens, at, /^(?:low_priority|delayed)$/)], 'into') ? ['insert'] : NONE,
  upsert: (tokens, at) => (isSqlWord(tokens[at], 'into') ? ['insert', 'update'] : NONE),
  update: readUpdate,
  delete: readDelete,
  merge: (tokens, at) => {
    const name = isSqlWord(tokens[at], 'into') ? at + 1 : at;
    const hasUsing = tokens.slice(name, name + 12).some((token) => isSqlWord(token, 'using'));
    return isSqlName(tokens[name]) && (name > at || hasUsing) ? ['merge'] : NONE;
  },
  drop: (tokens, at) => (isObject(tokens, at) ? ['drop'] : NONE),
  truncate: readTruncate,
  alter: (tokens, at) => (isObject(tokens, at) ? ['alter'] : NONE),
  create: (tokens, at) => {
    const object = skipWords(tokens, at, CREATE_WORDS, /^[=@`']$/);
    return isObject(tokens, object) || (object > at && isObject(tokens, object - 1)) ? ['create'] : NONE;
  },
  rename: (tokens, at) => (isObject(tokens, at) ? ['alter'] : NONE),
  comment: (tokens, at) => (isSqlWord(tokens[at], 'on') && isObject(tokens, at + 1) ? ['alter'] : NONE),
  refresh: (tokens, at) => (isSqlWord(tokens[at], 'materialized') ? ['update'] : NONE),
  restore: (tokens, at) => (/^(?:database|log|table)$/.test(getWord(tokens, at)) ? ['alter'] : NONE),
  backup: (tokens, at) => (/^(?:database|log|table)$/.test(getWord(tokens, at)) ? ['copy'] : NONE),
  grant: (tokens, at) => (hasAhead(tokens, at, /^(?:on|to)$/) && isSqlName(tokens[at]) ? ['grant'] : NONE),
  revoke: (tokens, at) =>
    hasAhead(tokens, at, /^(?:on|from)$/) && isSqlName(tokens[at]) ? ['revoke'] : NONE,
  deny: (tokens, at) => (hasAhead(tokens, at, /^on$/) && hasAhead(tokens, at, /^to$/) ? ['revoke'] : NONE),
  copy: readCopy,
  unload: (tokens, at) => (isSqlSign(tokens[at], '(') || hasAhead(tokens, at, /^to$/) ? ['copy'] : NONE),
  load: (tokens, at) =>
    /^(?:data|xml)$/.test(getWord(tokens, at)) && hasAhead(tokens, at, /^(?:infile|inpath)$/)
      ? ['copy', 'insert']
      : NONE,
  bulk: (tokens, at) => (isSqlWord(tokens[at], 'insert') ? ['copy', 'insert'] : NONE),
  vacuum: (tokens, at) =>
    hasAhead(tokens, at, /^into$/) && tokens.slice(at, at + 4).some(({ kind }) => kind === 'string')
      ? ['copy']
      : NONE,
  attach: (tokens, at) =>
    tokens.slice(at, at + 2).some(({ kind }) => kind === 'string') && hasAhead(tokens, at, /^as$/)
      ? ['create']
      : NONE,
  pragma: (tokens, at) => (hasSign(tokens, at, '=') ? ['alter'] : NONE),
  call: (tokens, at) => (isSqlCall(tokens, at) ? ['call'] : NONE),
  exec: readExecute,
  execute: readExecute,
  do: (tokens, at) => (tokens.slice(at, at + 4).some(({ kind }) => kind === 'string') ? ['call'] : NONE),
};

function readSelect(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  const first = tokens[at];
  if (first === undefined) return NONE;
  const isValue =
    first.kind === 'number' || first.kind === 'string' || /^[*(@]/.test(first.text) || isSqlCall(tokens, at);
  const from = findWord(tokens, at + 1, at + LOOKAHEAD_MAX, 'from');
  if (!isValue && from < 0) return NONE;
  // This is a call of a function with this name, and a member of its result.
  if (isSqlSign(first, '(') && isSqlSign(tokens[findGroupEnd(tokens, at)], '.')) return NONE;
  const until = from < 0 ? Math.min(tokens.length, at + LOOKAHEAD_MAX) : from;
  const into = findWord(tokens, at + 1, until + LOOKAHEAD_MAX, 'into');
  if (into < 0) return ['select'];
  const target = tokens[into + 1];
  if (target !== undefined && /^(?:outfile|dumpfile)$/.test(target.text)) return ['select', 'copy'];
  // The `into` of an `insert` belongs to that statement, and a variable is not a table.
  const isOwn =
    !/^(?:insert|replace|merge|ignore|overwrite)$/.test(tokens[into - 1]?.text ?? '') &&
    !target?.text.startsWith('@');
  return isOwn && into < until && (isSqlName(target) || isSqlSign(target, '#'))
    ? ['select', 'create', 'insert']
    : ['select'];
}

function readInsert(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  const next = skipWords(
    tokens,
    at,
    /^(?:low_priority|delayed|high_priority|ignore|or|abort|fail|replace|rollback|all|first|top)$/,
    /^[()]$/,
  );
  if (isSqlWord(tokens[next], 'overwrite')) return ['insert', 'delete'];
  if (isSqlWord(tokens[next], 'into'))
    return isSqlName(tokens[next + 1]) || isSqlSign(tokens[next + 1], '#') ? ['insert'] : NONE;
  const nameEnd = findNameEnd(tokens, next);
  const hasValues =
    isSqlSign(tokens[nameEnd], '(') || /^(?:values?|set|select|default|exec)$/.test(getWord(tokens, nameEnd));
  return nameEnd > next && hasValues && hasAhead(tokens, nameEnd - 1, /^(?:values?|set|select|default|exec)$/)
    ? ['insert']
    : NONE;
}

/** Reads `update t set a = 1`, also with an alias, several tables, joins and hints. */
function readUpdate(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  if (isSqlWord(tokens[at], 'set')) return hasSign(tokens, at, '=') ? ['update'] : NONE;
  const name = skipWords(
    tokens,
    at,
    /^(?:low_priority|ignore|only|or|abort|fail|replace|rollback|top)$/,
    /^[()\d]/,
  );
  const nameEnd = findNameEnd(tokens, name);
  if (nameEnd === name) return NONE;
  for (let place = nameEnd; place < Math.min(tokens.length, nameEnd + LOOKAHEAD_MAX); place += 1) {
    if (!isSqlWord(tokens[place], 'set')) continue;
    const isNear = place <= nameEnd + 2;
    const isJoined = tokens
      .slice(nameEnd, place)
      .some((token) => isSqlSign(token, ',') || /^(?:join|with)$/.test(token.text));
    const target = findNameEnd(tokens, place + 1);
    const assigns =
      isSqlSign(tokens[place + 1], '(') ||
      isSqlSign(tokens[target], '=') ||
      isSqlSign(tokens[target + 1], '=') ||
      isSqlSign(tokens[target], '[');
    return (isNear || isJoined) && assigns ? ['update'] : NONE;
  }
  return NONE;
}

function readDelete(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  const next = skipWords(tokens, at, /^(?:low_priority|quick|ignore|top|only)$/, /^[()\d]/);
  if (isSqlWord(tokens[next], 'from'))
    return isSqlName(tokens[next + 1]) || isSqlSign(tokens[next + 1], '#') ? ['delete'] : NONE;
  const nameEnd = findNameEnd(tokens, next);
  if (nameEnd === next) return NONE;
  // `delete t from t join b`, `delete t.* from`, `delete t where a = 1`: in a sentence no such words follow
  // the name.
  if (isSqlWord(tokens[nameEnd], 'where'))
    return hasSign(tokens, nameEnd, '=') || hasAhead(tokens, nameEnd, /^(?:in|like|is|between|exists)$/)
      ? ['delete']
      : NONE;
  const from = findWord(tokens, nameEnd, nameEnd + 24, 'from');
  if (from < 0) return NONE;
  const table = findNameEnd(tokens, from + 1);
  const tail = tokens.slice(table, table + 3);
  const isStatement =
    tail.length === 0 ||
    tail.some(
      (token) =>
        isSqlSign(token, ',') || /^(?:as|join|inner|left|right|cross|natural|where|using)$/.test(token.text),
    );
  return table > from + 1 && isStatement ? ['delete'] : NONE;
}

function readTruncate(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  if (/^(?:table|partition|cluster|database)$/.test(getWord(tokens, at)))
    return isSqlName(tokens[at + 1]) ? ['truncate'] : NONE;
  const nameEnd = findNameEnd(tokens, isSqlWord(tokens[at], 'only') ? at + 1 : at);
  const next = tokens[nameEnd];
  const ends =
    next === undefined || isSqlSign(next, ',') || /^(?:cascade|restrict|restart|continue)$/.test(next.text);
  return nameEnd > at && ends ? ['truncate'] : NONE;
}

function readCopy(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  if (isSqlWord(tokens[at], 'into')) return hasAhead(tokens, at, /^from$/) ? ['copy', 'insert'] : NONE;
  for (let place = at + 1; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1) {
    const word = getWord(tokens, place);
    if (word !== 'from' && word !== 'to') continue;
    const target = tokens[place + 1];
    const isProgram = isSqlWord(target, 'program');
    if (
      !isProgram &&
      target?.kind !== 'string' &&
      !/^(?:stdin|stdout|pstdin|pstdout|@|s3)/.test(target?.text ?? '')
    )
      continue;
    if (isProgram) return ['copy', 'call'];
    return word === 'from' ? ['copy', 'insert'] : ['copy'];
  }
  return NONE;
}

function readExecute(tokens: readonly SqlToken[], at: number): readonly Kind[] {
  if (isSqlWord(tokens[at], 'immediate') || isSqlSign(tokens[at], '(') || tokens[at]?.kind === 'string')
    return ['call'];
  if (/^(?:function|procedure)$/.test(getWord(tokens, at)))
    return isSqlName(tokens[at + 1]) ? ['call'] : NONE;
  const nameEnd = findNameEnd(tokens, at);
  if (nameEnd === at) return NONE;
  const next = tokens[nameEnd];
  const hasArguments =
    next === undefined ||
    next.kind === 'string' ||
    next.kind === 'number' ||
    /^[(@=,]/.test(next.text) ||
    isSqlWord(next, 'using');
  return hasArguments ? ['call'] : NONE;
}

/**
 * Returns whether an object and its name follow: `table t`, `materialized view if exists v`, `or replace
 * function f`.
 */
function isObject(tokens: readonly SqlToken[], at: number): boolean {
  return OBJECTS.test(getWord(tokens, at)) && (isSqlName(tokens[at + 1]) || isSqlSign(tokens[at + 1], '#'));
}

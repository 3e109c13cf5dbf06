import { type JsonLeaf, type WalkFrame, walkJson } from '../../json/walk.ts';
import type { Json } from '../../types/index.ts';
import { isSystemPath, isWholeSystemPath } from '../facts/command-paths.ts';
import { getKeyMeaning, type KeyMeaning } from '../facts/keys.ts';
import { DEFAULT_GUARD_VIEW, findGroupOfFolder, findGuardedGroup, type GuardView } from '../guard/paths.ts';
import { type CommandMatch, judgeScript } from './judge.ts';

/**
 * Finds commands in the arguments of a tool. Which members a tool reads, and in which order, is unknown. So all
 * possible programs and all possible arguments are collected per object, and each pair is judged when the object
 * ends. `{"args": ["-rf", "/"], "command": "rm"}`, `{"commands": [["rm", "-rf", "/"]]}` and JSON in a string are the
 * same.
 */

/** Source code without one of these words has nothing to judge and costs one search. */
const CODE_CUE =
  /\b(?:rm|sudo|su|curl|wget|nc|ncat|dd|mkfs|chmod|chown|kill|pkill|git|docker|kubectl|helm|terraform|aws|az|gcloud|bash|sh|zsh|eval|exec\w*|system|popen|spawn\w*|subprocess|child_process|shell\w*|rmtree|unlink\w*|remove\w*|rm_rf?|rmSync|rmdir\w*|del|delete|drop|truncate|grant|socket|pickle|marshal|b64decode|base64|atob|ssh|scp|powershell|iex|history|env|printenv|cat|crontab|shred|systemctl|iptables|flushall|find|tar|reboot|shutdown|etc|dev|reg|net|schtasks)\b/i;
/** The most UTF-16 units of a list of words that is judged as one command; the rest is not read. */
const LIST_UNITS_MAX = 131_072;
const PROGRAM_UNITS_MAX = 1000;
/** The most programs, and lists of arguments, of one object that are paired. */
const PARTS_MAX = 8;
/** The most levels of JSON in strings. */
const NESTING_MAX = 4;
const NESTED_LIMITS = { depth_max: 64, nodes_max: 100_000 };
/** The key that values outside of objects are read under. */
const KEY_OF_ROOT = 'input';

/** The findings in one leaf that was read as a command; can be empty. */
export interface FoundCommands {
  readonly matches: readonly CommandMatch[];
  readonly index: number;
  /** The last leaf that was read together with the first one. */
  readonly last_index: number;
  readonly path: string | null;
  readonly is_cut: boolean;
}

/** Reads the leaves of one payload in order; `end` closes open containers. */
export interface PayloadReader {
  readonly visit: (leaf: Readonly<JsonLeaf>) => void;
  readonly end: () => void;
}

/** The leaf that contains a text. */
interface LeafPosition {
  readonly index: number;
  readonly path: string | null;
  readonly units: number;
  /** The last leaf of a container; the same leaf if it is one. */
  readonly last_index: number;
}

/** Text that can be a program or its arguments. */
interface CommandPart {
  readonly place: LeafPosition;
  readonly text: string;
  /** True if it is the text or the list of a command, and not only a name or an object. */
  readonly is_words: boolean;
}

/** An open container. */
interface Container {
  readonly frame: WalkFrame;
  /** The meaning of the key around it; in nested lists, of the outermost key. */
  readonly meaning: KeyMeaning;
  readonly is_list: boolean;
  /** Strings and numbers in it and in containers inside it. */
  readonly words: CommandPart[];
  units: number;
  /** Members of an object that can be a script, a program or its arguments. */
  readonly scripts: CommandPart[];
  readonly programs: CommandPart[];
  readonly lists: CommandPart[];
  folder: CommandPart | null;
  is_cut: boolean;
}

interface PayloadReaderState {
  readonly guard: GuardView;
  readonly give: (found: FoundCommands) => void;
  readonly open: Container[];
  readonly nesting: number;
  /** The meaning of values that are not members of an object. */
  readonly root: KeyMeaning;
  /** Rules with the leaves in which they matched, so that each is reported once. */
  readonly reported: Set<string>;
}

/**
 * Creates a reader for one payload. `give` receives each finding as soon as it is known; `guard` says which paths a
 * command must not touch.
 */
export function createPayloadReader(
  give: (found: FoundCommands) => void,
  guard: GuardView = DEFAULT_GUARD_VIEW,
  nesting = 0,
  root = getKeyMeaning(KEY_OF_ROOT),
): PayloadReader {
  const reader: PayloadReaderState = { guard, give, open: [], nesting, root, reported: new Set() };
  return {
    visit: (leaf) => {
      synchronizeFrames(reader, leaf.frames);
      if (leaf.kind !== 'key') addValue(reader, reader.open.at(-1), leaf);
    },
    end: () => synchronizeFrames(reader, []),
  };
}

/** Closes the containers that have ended, and opens new ones. */
function synchronizeFrames(reader: PayloadReaderState, frames: readonly WalkFrame[]): void {
  const { open } = reader;
  if (open.length === frames.length && open.at(-1)?.frame === frames.at(-1)) return;
  while (open.length > 0 && frames[open.length - 1] !== open.at(-1)!.frame)
    closeContainer(reader, open.pop()!);
  while (open.length < frames.length) open.push(openGroup(reader, frames[open.length]!));
}

function openGroup(reader: PayloadReaderState, frame: WalkFrame): Container {
  return {
    frame,
    meaning: findMeaning(reader, reader.open.at(-1)),
    is_list: frame.keys === null,
    words: [],
    units: 0,
    scripts: [],
    programs: [],
    lists: [],
    folder: null,
    is_cut: false,
  };
}

/** Returns whether the words in a container are joined. */
function collectsWords({ meaning }: Container): boolean {
  return meaning.is_script || meaning.is_list;
}

function addValue(reader: PayloadReaderState, group: Container | undefined, leaf: Readonly<JsonLeaf>): void {
  const meaning = findMeaning(reader, group);
  const isCollected = group !== undefined && collectsWords(group);
  if (!isOurs(meaning) && !isCollected) return;
  const hasJson = leaf.kind === 'string' && /^\s{0,100}[[{]/.test(leaf.text);
  // Computing a path is slow, and of a list only that of the first element is reported.
  const path = hasJson || group?.is_list !== true || group.words.length === 0 ? leaf.path() : null;
  const { index, text } = leaf;
  const place = { index, last_index: index, path, units: text.length };
  const value = hasJson && !meaning.is_code ? tryParseJson(text) : undefined;
  if (value !== undefined) readNested(reader, meaning, place, value);
  const part = { place, text: value === undefined ? text : joinScalars(value), is_words: true };
  if (isCollected) addWord(group, part);
  if (group?.is_list === true) return;
  if (group !== undefined) addMember(group, meaning, part);
  const isStrict = group?.meaning.is_script === true && !group.meaning.is_loose && !group.meaning.is_code;
  if (leaf.kind === 'string' && (meaning.is_script || meaning.is_arguments || isStrict))
    reportMatches(reader, part, judgeValue(text, meaning, reader.guard), { is_whole: false });
}

/** Returns the meaning of a value by its key, or by the key of its list. */
function findMeaning({ root }: PayloadReaderState, group: Container | undefined): KeyMeaning {
  if (group === undefined) return root;
  return group.is_list ? group.meaning : getKeyMeaning(group.frame.keys![group.frame.index]!);
}

function isOurs(meaning: KeyMeaning): boolean {
  return (
    meaning.is_script || meaning.is_list || meaning.is_program || meaning.is_folder || meaning.is_envelope
  );
}

function addWord(group: Container, part: CommandPart): void {
  if (group.units > LIST_UNITS_MAX) group.is_cut = true;
  else {
    group.units += part.text.length + 1;
    group.words.push(part);
  }
}

/** Notes what a member can be for the other members of its object. */
function addMember(group: Container, meaning: KeyMeaning, part: CommandPart): void {
  if (meaning.is_folder) group.folder ??= part;
  if (meaning.is_list) addPart(group, group.lists, part);
  if (meaning.is_program && /^[\w./\\:-]{1,200}$/.test(part.text))
    addPart(group, group.programs, { ...part, is_words: false });
  if (!meaning.is_script || meaning.is_code) return;
  addPart(group, group.programs, part);
  addPart(group, group.scripts, part);
}

function addPart(group: Container, parts: CommandPart[], part: CommandPart): void {
  if (part.text.trim() === '') return;
  if (parts.length >= PARTS_MAX) group.is_cut = true;
  else parts.push(part);
}

/** Closes a container: judges its words, and adds them to the container around it. */
function closeContainer(reader: PayloadReaderState, group: Container): void {
  const around = reader.open.at(-1);
  const [first] = group.words;
  if (first !== undefined && collectsWords(group)) {
    if (group.is_list) judgeList(reader, group, first);
    if (around !== undefined) addToOuter(around, group, first);
  }
  if (!group.is_list) judgePairs(reader, group);
}

function addToOuter(
  around: Container,
  { words, meaning, is_list, is_cut }: Container,
  first: CommandPart,
): void {
  const isApart = !is_list && around.meaning.is_plural;
  if (!isApart && (around.is_list || collectsWords(around))) for (const word of words) addWord(around, word);
  if (is_cut) around.is_cut = true;
  if (around.is_list) return;
  const place = { ...first.place, last_index: words.at(-1)!.place.last_index };
  const part = { place, text: joinQuoted(words), is_words: is_list };
  if (meaning.is_script && is_list && !meaning.is_code) addPart(around, around.programs, part);
  if (meaning.is_list) addPart(around, around.lists, part);
}

/**
 * Judges a list as one command. If its first word has blanks or the key is a plural, each element is also a command.
 */
function judgeList(
  reader: PayloadReaderState,
  { words, meaning, is_cut }: Container,
  first: CommandPart,
): void {
  const line = joinQuoted(words);
  if (meaning.is_loose && !isCommandLine(line)) return;
  const hasBlank = /\s/.test(first.text);
  const readings = [hasBlank ? `${first.text} ${joinQuoted(words.slice(1))}` : line];
  if (hasBlank || meaning.is_plural) readings.push(words.map(({ text }) => text).join('\n'));
  // Arguments without a program can be a script of a shell that is not named here.
  const lastIndex = meaning.is_arguments ? first.place.index : words.at(-1)!.place.last_index;
  const place = { ...first.place, last_index: lastIndex };
  for (const reading of readings)
    reportMatches(reader, { place }, judgeScript(reading, 0, reader.guard), { is_whole: true, is_cut });
}

/** Judges each program of an object with each list of arguments, and with all of them. */
function judgePairs(
  reader: PayloadReaderState,
  { programs, lists, folder, scripts, is_cut }: Container,
): void {
  for (const program of programs) {
    if (program.text.length > PROGRAM_UNITS_MAX) continue;
    const others = lists.filter(
      (list) => list.place.index !== program.place.index && (program.is_words || list.is_words),
    );
    const all = others.map(({ text }) => text).join(' ');
    for (const { place, text } of others.length > 1 ? [...others, { ...others[0]!, text: all }] : others)
      reportMatches(
        reader,
        { place, of: program.place },
        judgeScript(`${program.text} ${text}`, 0, reader.guard),
        {
          is_whole: true,
          is_cut,
        },
      );
  }
  if (folder === null || !decidesOnCommands(folder.text, reader.guard)) return;
  for (const script of scripts) {
    const there = `cd ${quoteWord(folder.text)}\n${script.text}`;
    reportMatches(reader, script, judgeScript(there, 0, reader.guard), { is_whole: true, is_cut });
  }
}

/** Returns whether a command acts differently in that folder than in any other one. */
function decidesOnCommands(folder: string, guard: GuardView): boolean {
  return (
    isWholeSystemPath(folder) ||
    isSystemPath(folder) ||
    findGuardedGroup(folder, guard) !== null ||
    findGroupOfFolder(folder, guard) !== null
  );
}

/** Reads JSON in a string as a payload of its own; findings get the position of the string. */
function readNested(reader: PayloadReaderState, meaning: KeyMeaning, place: LeafPosition, value: Json): void {
  const giveInner = (found: PayloadJudgement) => reportMatches(reader, { place }, found, { is_whole: true });
  if (reader.nesting >= NESTING_MAX) {
    giveInner({ matches: [], is_cut: true });
    return;
  }
  const inner = createPayloadReader(giveInner, reader.guard, reader.nesting + 1, meaning);
  const end = walkJson(value, NESTED_LIMITS, inner.visit);
  inner.end();
  if (end !== null) giveInner({ matches: [], is_cut: true });
}

function tryParseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Joins the strings and numbers of a value as words of a command. */
function joinScalars(value: Json): string {
  const words: string[] = [];
  walkJson(value, NESTED_LIMITS, ({ kind, text }) => {
    if (kind !== 'key') words.push(quoteWord(text));
  });
  return words.join(' ');
}

interface PayloadJudgement {
  readonly matches: readonly CommandMatch[];
  readonly is_cut: boolean;
}

/** Reports the findings of a leaf. A finding across several leaves is reported in one of them, as a whole. */
function reportMatches(
  reader: PayloadReaderState,
  { place, of }: { readonly place: LeafPosition; readonly of?: LeafPosition },
  judgement: PayloadJudgement,
  { is_whole, is_cut = false }: { readonly is_whole: boolean; readonly is_cut?: boolean },
): void {
  const { reported } = reader;
  const isNew = (id: string) => !reported.has(`${id} ${place.index}`) && !reported.has(`${id} ${of?.index}`);
  const found = is_whole
    ? removeDuplicateRules(judgement.matches)
        .filter(({ rule }) => isNew(rule.id))
        .map(({ rule }) => ({ rule, start: 0, end: place.units }))
    : judgement.matches;
  for (const { rule } of found) reported.add(`${rule.id} ${place.index}`);
  const isOver = judgement.is_cut || is_cut;
  const { index, last_index, path } = place;
  reader.give({ matches: found, index, last_index, path, is_cut: isOver });
}

/** Judges a value as a script; if the key says little, only one line that is a whole command. */
function judgeValue(text: string, meaning: KeyMeaning, guard: GuardView): PayloadJudgement {
  if (meaning.is_loose && !(text.includes(' ') && isCommandLine(text))) return NOTHING;
  if (meaning.is_code && !CODE_CUE.test(text)) return NOTHING;
  const { matches, is_cut } = judgeScript(text, 0, guard);
  return {
    matches: meaning.is_code ? removeDuplicateRules([...matches, ...judgeCode(text, guard)]) : matches,
    is_cut,
  };
}

const NOTHING: PayloadJudgement = { matches: [], is_cut: false };

/** Judges what source code passes to a shell or deletes; the span is the whole text. */
function judgeCode(text: string, guard: GuardView): readonly CommandMatch[] {
  const { matches } = judgeScript(`python3 -c '${text.replaceAll("'", `'\\''`)}'`, 0, guard);
  return matches.map(({ rule }) => ({ rule, start: 0, end: text.length }));
}

/** Returns whether a text is one short line without the marks and words of a sentence. */
export function isCommandLine(text: string): boolean {
  if (
    text.length > 2000 ||
    /[.?!:]$/.test(text.trimEnd()) ||
    /\n[^\n]*[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+/.test(text)
  )
    return false;
  const words = text.split(/\s+/, 30);
  const plain = words.filter((word) => /^[A-Za-z']{2,},?$/.test(word)).length;
  return words.length < 6 || plain < words.length * 0.7;
}

function joinQuoted(words: readonly CommandPart[]): string {
  return words.map(({ text }) => quoteWord(text)).join(' ');
}

function quoteWord(text: string): string {
  return /^[\w@%+=:,./~*$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function removeDuplicateRules(matches: readonly CommandMatch[]): readonly CommandMatch[] {
  const ids = new Set<string>();
  return matches.filter(({ rule }) => !ids.has(rule.id) && ids.add(rule.id));
}

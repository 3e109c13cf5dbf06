import type { JsonLeaf } from '../../json/walk.ts';
import { isStartupPath, isTakeoverPath } from '../facts/command-paths.ts';
import { classifyPathKey, findPaths } from '../facts/paths.ts';
import { DECIDING_ROUTE, SIGN_IN_LINK } from '../guard/deciding-commands.ts';
import { findPatchedFiles, type PathUse } from '../guard/path-access.ts';
import type { GuardedGroup, GuardView } from '../guard/paths.ts';
import { gradeDeletion, type Loss } from './deletion-loss.ts';
import { createPayloadReader, type FoundCommands, type PayloadReader } from './in-payload.ts';
import { blankUnaddedLines, isPatch, listPatchOperations } from './patch-files.ts';
import { findForbiddenGroup } from './rules/guard.ts';
import { commandRules } from './rules/index.ts';
import type { CommandRule } from './rules/rule.ts';
import { findMarkerAsValue, isProseFile } from './written-marker.ts';

/** Keys that name locations, in addition to those that name paths in any tool. */
const PLACE_KEY = /^(?:from|to|location|document|name|target|workdir|working_?dir(?:ectory)?)$/i;
const PATCH_KEY = /^(?:patch|diff|input|changes|content|edits?|unified_?diff|patch_?text|command)$/i;
const URL_KEY = /^(?:url|urls|uri|endpoint|href|link)$/i;
const SEARCH_KEY = /^(?:pattern|query|regexp?|search|text)$/i;
const KEY_UNITS_MAX = 32;

const WRITES =
  /write|edit|create|update|replace|patch|delete|remove|move|rename|save|insert|append|put|copy|upload|set/i;
const LISTS =
  /^(?:ls|glob|list|tree|stat|find)|(?:list|glob|tree|stat|info)$|list_|search_?files?|file_?search|directory_tree/i;
const READS = /read|view|open|cat|get|grep|search|fetch|show|load/i;
const PATCHES = /patch|diff/i;

const RULE_IDS: Readonly<Record<GuardedGroup, string>> = {
  state: 'guard.state_folder',
  configuration: 'guard.configuration',
  agent_settings: 'guard.agent_settings',
  startup_file: 'guard.startup_file',
};
const rules = new Map(commandRules.map((rule) => [rule.id, rule]));

/**
 * Creates a reader that finds commands in a payload. If the payload is a tool call, it also finds names of
 * guarded files.
 * @param tool - `null` if the payload is not a call; names of files are then ignored
 */
export function createToolCallReader(
  give: (found: FoundCommands) => void,
  view: GuardView,
  tool: string | null,
): PayloadReader {
  const commands = createPayloadReader(give, view);
  if (tool === null) return commands;
  let key = '';
  const written = createMarkerReader(give, tool);
  const visit: PayloadReader['visit'] = (leaf) => {
    // The lines of a patch are content. A tool of another name may run them, so that it is read as a script.
    const isPatchText = leaf.kind === 'string' && PATCHES.test(tool) && isPatch(leaf.text);
    if (!isPatchText) commands.visit(leaf);
    if (leaf.kind === 'key') key = leaf.text;
    else if (leaf.kind === 'string') {
      const { index, text } = leaf;
      const rule =
        findGuardedArgument({ key, text }, tool, view) ??
        (isPatchText ? findPatchRule(text) : findFileRule({ key, text }, tool));
      const match = rule === null ? null : { rule, start: 0, end: text.length };
      if (match !== null)
        give({ matches: [match], index, last_index: index, path: leaf.path(), is_cut: false });
      written.visit(leaf, key, isPatchText);
    }
  };
  const end = () => {
    commands.end();
    written.end();
  };
  return { visit, end };
}

/** Keys whose text an edit replaces or does not write. */
const NOT_WRITTEN =
  /^(?:old|before|original|search|find|pattern|query|description|explanation|instructions?)/i;
/** The most texts that are reported for one call. */
const MARKED_MAX = 16;

/** Finds redaction markers in the text that a tool writes to a file. The path can follow the text. */
function createMarkerReader(give: (found: FoundCommands) => void, tool: string) {
  const marked: FoundCommands[] = [];
  let isFile = false;
  let isProse = false;
  const rule = rules.get('redaction.written_back')!;
  const visit = (leaf: Readonly<JsonLeaf>, key: string, isPatchText: boolean): void => {
    const { index, text } = leaf;
    if (classifyPathKey(key, tool) === 'path') {
      isFile = true;
      isProse ||= isProseFile(text);
      return;
    }
    isFile ||= isPatchText;
    if (marked.length >= MARKED_MAX || NOT_WRITTEN.test(key)) return;
    const place = findMarkerAsValue(isPatchText ? blankUnaddedLines(text) : text);
    if (place === null) return;
    // The text was not read as a command, so that commands which were found in it stay.
    const lastIndex = index - 1;
    marked.push({
      matches: [{ rule, ...place }],
      index,
      last_index: lastIndex,
      path: leaf.path(),
      is_cut: false,
    });
  };
  const end = (): void => {
    if (isFile && !isProse) for (const found of marked) give(found);
  };
  return isWriter(tool) ? { visit, end } : { visit: () => {}, end: () => {} };
}

/** Returns whether a tool changes files, by its name. */
function isWriter(tool: string): boolean {
  const name = tool.replace(/^mcp__.*__/, '');
  return WRITES.test(name) && !READS.test(name);
}

/**
 * Returns the rule that an argument of a tool call violates because it names a guarded file; `null` if there
 * is none.
 */
function findGuardedArgument(
  { key, text }: { readonly key: string; readonly text: string },
  tool: string,
  view: GuardView,
): CommandRule | null {
  if (key.length > KEY_UNITS_MAX) return null;
  if (classifyPathKey(key, tool) === 'path' || PLACE_KEY.test(key)) {
    const use = getToolPathUse(tool);
    const groups = findPaths(text).map((path) => findForbiddenGroup({ path, use }, view));
    const group = groups.find((each) => each !== null);
    if (group) return rules.get(RULE_IDS[group])!;
  }
  const isDeciding = URL_KEY.test(key) && DECIDING_ROUTE.test(text);
  if (isDeciding || (SEARCH_KEY.test(key) && SIGN_IN_LINK.test(text))) return rules.get('guard.decide')!;
  if (!PATCHES.test(tool) && !(PATCH_KEY.test(key) && text.includes('*** Begin Patch'))) return null;
  const groups = findPatchedFiles(text).map((touch) => findForbiddenGroup(touch, view));
  const group = groups.find((each) => each !== null);
  return group ? rules.get(RULE_IDS[group])! : null;
}

/** Tools that delete the files or the folders that they name. */
const DELETES = /delete|remove|unlink|trash/i;
const DELETES_FOLDERS = /dir|folder|tree|recurs|path/i;
const RULE_OF_LOSS: Readonly<Record<Loss, string | null>> = {
  whole: 'filesystem.delete_whole',
  outside: 'filesystem.delete_forced',
  tree: 'filesystem.delete_tree',
  file: 'filesystem.delete_file',
  part: null,
};

/** Returns the worst rule that the file operations of a patch violate. */
function findPatchRule(text: string): CommandRule | null {
  const found = listPatchOperations(text).map(({ path, kind }) =>
    kind === 'delete' ? findDeletionRule(path, false) : findWriteRule(path),
  );
  return found.find((rule) => rule?.severity === 'critical') ?? found.find((rule) => rule !== null) ?? null;
}

/** Returns the rule that a tool violates with a file that it writes or deletes. */
function findFileRule(
  { key, text }: { readonly key: string; readonly text: string },
  tool: string,
): CommandRule | null {
  if (!isWriter(tool) || classifyPathKey(key, tool) !== 'path') return null;
  const name = tool.replace(/^mcp__.*__/, '');
  for (const path of findPaths(text)) {
    const rule = DELETES.test(name)
      ? findDeletionRule(path, DELETES_FOLDERS.test(name))
      : findWriteRule(path);
    if (rule !== null) return rule;
  }
  return null;
}

function findDeletionRule(path: string, isRecursive: boolean): CommandRule | null {
  const loss = gradeDeletion(path, isRecursive);
  const id = loss === null ? null : RULE_OF_LOSS[loss];
  return id === null ? null : (rules.get(id) ?? null);
}

/** A start-up file counts where it is used: in a home or system folder, or as a hook of git. */
function findWriteRule(path: string): CommandRule | null {
  if (isTakeoverPath(path)) return rules.get('persistence.takeover_file')!;
  const isUsed = /^(?:[/~]|\$HOME)|(?:^|\/)\.git\/hooks\//.test(path);
  return isUsed && isStartupPath(path) ? rules.get('persistence.startup_file')! : null;
}

/** Returns what a tool does with its paths; an unknown tool may write. */
function getToolPathUse(tool: string): PathUse {
  const name = tool.replace(/^mcp__.*__/, '');
  // A coding agent reports a completed change, which the user may have made.
  if (name === 'ConfigChange') return 'list';
  if (WRITES.test(name)) return 'remove';
  if (LISTS.test(name)) return 'list';
  return READS.test(name) ? 'read' : 'remove';
}

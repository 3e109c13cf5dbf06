/**
 * Classifies the keys of members by what their values are: a script, a program, its arguments, or a working
 * folder.
 */

/** Keys whose values are scripts or lists of words. */
const SCRIPT_KEY =
  /^(?:(?:[a-z]+_){0,3}(?:commands?|cmds?)(?:_?(?:line|lines|string|text|str|script|code|template|raw))?|scripts?|shell|bash|sh|zsh|powershell|exec|execute|run|cli|cmdline|shell_?(?:script|code)|bash_script|terminal|one_?liner|entrypoint|source_?code|code|python|javascript|input|sql|query|statement|program|executable|file|keystrokes|keys|chars|stdin|argv)$/;
const LIST_KEY =
  /^(?:args?|argv|arguments?|params|parameters|(?:command|cmd|extra)_?args?|arg_?list|flags?|switches|options?|opts|operands?|positional|rest|targets?)$/;
/** Keys of lists that are arguments of a program and nothing else. */
const ARGUMENTS_KEY = /^(?:args?|arguments?|params|parameters|(?:command|cmd|extra)_?args?|arg_?list)$/;
/** Keys whose values are a program only if arguments are in the same object. */
const PROGRAM_KEY = /^(?:name|bin|binary|exe|path|tool|utility|interpreter|argv_?0)$/;
/** Keys whose values are often prose: only what is a command by itself counts. */
const LOOSE_KEY = /^(?:input|file|program|executable|run|query|statement)$/;
/** Keys whose values are source code of any language, so that they are read as code and as a script. */
const CODE_KEY = /^(?:source_?code|code|scripts?|python|javascript)$/;
/** Keys whose list has a command in each element. */
const PLURAL_KEY = /(?:commands|cmds|scripts|lines)$/;
const FOLDER_KEY =
  /^(?:cwd|dir|directory|folder|work_?dir|working_?dir(?:ectory)?|current_?dir(?:ectory)?|chdir)$/;
/** Keys under which a client may write a whole call as JSON text. */
const ENVELOPE_KEY = /^(?:payload|request|tool_?input|json|kwargs|call|action|data)$/;

export interface KeyMeaning {
  readonly is_script: boolean;
  readonly is_list: boolean;
  readonly is_arguments: boolean;
  readonly is_program: boolean;
  readonly is_loose: boolean;
  readonly is_code: boolean;
  readonly is_plural: boolean;
  readonly is_folder: boolean;
  readonly is_envelope: boolean;
}

const known = new Map<string, KeyMeaning>();
const KEYS_MAX = 2000;
const KEY_UNITS_MAX = 32;

/** Returns the meaning of a key. The result is cached, because payloads repeat a few keys. */
export function getKeyMeaning(key: string): KeyMeaning {
  if (key.length > KEY_UNITS_MAX) return NO_MEANING;
  let meaning = known.get(key);
  if (meaning === undefined) {
    meaning = readKey(key);
    if (known.size < KEYS_MAX) known.set(key, meaning);
  }
  return meaning;
}

/** Returns whether the value of such a key is read as a command or as a part of one. */
export function holdsCommands(key: string): boolean {
  const { is_script, is_list } = getKeyMeaning(key);
  return is_script || is_list;
}

function readKey(key: string): KeyMeaning {
  const snake = key
    .replace(/(?<=[a-z\d])[A-Z]/g, '_$&')
    .replaceAll('-', '_')
    .toLowerCase();
  return {
    is_script: SCRIPT_KEY.test(snake),
    is_list: LIST_KEY.test(snake),
    is_arguments: ARGUMENTS_KEY.test(snake),
    is_program: PROGRAM_KEY.test(snake),
    is_loose: LOOSE_KEY.test(snake),
    is_code: CODE_KEY.test(snake),
    is_plural: PLURAL_KEY.test(snake),
    is_folder: FOLDER_KEY.test(snake),
    is_envelope: ENVELOPE_KEY.test(snake),
  };
}

const NO_MEANING: KeyMeaning = {
  is_script: false,
  is_list: false,
  is_arguments: false,
  is_program: false,
  is_loose: false,
  is_code: false,
  is_plural: false,
  is_folder: false,
  is_envelope: false,
};

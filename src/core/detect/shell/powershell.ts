import { decodeBase64 } from '../../text/base64.ts';
import { parseArguments } from './options.ts';
import type { Command, ShellWord } from './syntax.ts';

const COMMAND_FLAG = /^[-/]c(?:o(?:m(?:m(?:a(?:nd?)?)?)?)?)?$/i;
/** `-EncodedCommand` can be shortened to `-e`; `-ep` and `-ex` set the execution policy. */
const ENCODED_FLAG = /^[-/]e(?:c|n(?:c\w{0,12})?)?$/i;
/** Flags with a value in the next word. */
const VALUE_FLAG = /^[-/](?:f|e|w|v|ps|in|ou|config|settings|working)/i;

/**
 * Returns the script that a call of PowerShell runs: after `-Command`, after `-EncodedCommand` (base64 of UTF-16), or
 * from the first word that is not a flag; `null` if it runs none.
 */
export function findPowerShellScript({ words }: Command): string | null {
  const encoded = words.findIndex(({ text }) => ENCODED_FLAG.test(text));
  if (encoded >= 0) return decodeUtf16(words[encoded + 1]?.text ?? '');
  const flag = words.findIndex(({ text }) => COMMAND_FLAG.test(text));
  if (flag >= 0) return joinWords(words.slice(flag + 1));
  const at = words.findIndex(({ text }) => !/^[-/]/.test(text));
  return at < 0 || VALUE_FLAG.test(words[at - 1]?.text ?? '') ? null : joinWords(words.slice(at));
}

function joinWords(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(' ');
}

/** Decodes UTF-16, in which every second byte of ASCII is zero. */
function decodeUtf16(text: string): string | null {
  return decodeBase64(text)?.replaceAll('\0', '') ?? null;
}

/** Returns the command line that `Start-Process file -ArgumentList 'a b'` starts. */
export function findStartedProcess(command: Command): string | null {
  const { values, operands } = parseArguments(command);
  const given = (...names: readonly string[]) => {
    for (const [flag, value] of values) if (names.includes(flag.toLowerCase())) return value;
    return undefined;
  };
  const file = given('-filepath', '-path') ?? operands[0];
  if (file === undefined) return null;
  const rest = given('-argumentlist', '-args', '-argument') ?? operands.slice(1).join(' ');
  return `${/\s/.test(file) ? `"${file}"` : file} ${rest}`;
}

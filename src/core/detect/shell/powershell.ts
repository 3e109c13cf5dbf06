import { decodeBase64 } from '../../text/base64.ts';
import { argumentsOf } from './options.ts';
import type { Command, Word } from './syntax.ts';

const COMMAND_FLAG = /^[-/]c(?:o(?:m(?:m(?:a(?:nd?)?)?)?)?)?$/i;
/** `-EncodedCommand` may be shortened down to `-e`; `-ep` and `-ex` are the policy for scripts. */
const ENCODED_FLAG = /^[-/]e(?:c|n(?:c\w{0,12})?)?$/i;
/** Flags that have a value behind them. */
const VALUE_FLAG = /^[-/](?:f|e|w|v|ps|in|ou|config|settings|working)/i;

/**
 * The script that a call of PowerShell runs: behind `-Command`, behind `-EncodedCommand` (base64 of UTF-16), or
 * from the first word on that is no flag; `null` where it runs none.
 */
export function powerShellScript({ words }: Command): string | null {
  const encoded = words.findIndex(({ text }) => ENCODED_FLAG.test(text));
  if (encoded >= 0) return decoded(words[encoded + 1]?.text ?? '');
  const flag = words.findIndex(({ text }) => COMMAND_FLAG.test(text));
  if (flag >= 0) return joined(words.slice(flag + 1));
  const at = words.findIndex(({ text }) => !/^[-/]/.test(text));
  return at < 0 || VALUE_FLAG.test(words[at - 1]?.text ?? '') ? null : joined(words.slice(at));
}

function joined(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

/** Every second byte of the ASCII in UTF-16 is zero. */
function decoded(text: string): string | null {
  return decodeBase64(text)?.replaceAll('\0', '') ?? null;
}

/** What `Start-Process file -ArgumentList 'a b'` starts, as one line. */
export function startedProcess(command: Command): string | null {
  const { values, operands } = argumentsOf(command);
  const given = (...names: readonly string[]) => {
    for (const [flag, value] of values) if (names.includes(flag.toLowerCase())) return value;
    return undefined;
  };
  const file = given('-filepath', '-path') ?? operands[0];
  if (file === undefined) return null;
  const rest = given('-argumentlist', '-args', '-argument') ?? operands.slice(1).join(' ');
  return `${/\s/.test(file) ? `"${file}"` : file} ${rest}`;
}

import type { ShellWord } from './syntax.ts';

const CALL = /^-(?:exec|execdir|ok|okdir|x|X)$/;

/** Returns the words of each program that `find` or `fd` calls: those after `-exec`, up to its `;` or `+`. */
export function listFindCalls(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const calls: (readonly ShellWord[])[] = [];
  for (let at = 0; at < words.length; at++) {
    if (!CALL.test(words[at]!.text)) continue;
    const from = at + 1;
    at = from;
    while (at < words.length && words[at]!.text !== ';' && words[at]!.text !== '+') at += 1;
    if (at > from) calls.push(words.slice(from, at));
  }
  return calls;
}

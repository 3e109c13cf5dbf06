/** Matches an instruction whose words are joined without spaces, or with signs between them. */
import { memoizeValue } from './lazy-value.ts';

/** Names in code join as many words with `_` or capitals as a short instruction has. */
const NAME_WORDS_MIN = 5;
const LETTERS_MIN = 20;

const SMALL = '(?:all|any|every|each|of|the|your|my|these|those|and|other|a|own|absolutely){0,5}';
const EARLIER = '(?:previously|previous|prior|above|earlier|original|initial|preceding|foregoing)';
const RULES =
  '(?:instructions?|rules?|guidelines?|directives?|prompts?|policy|policies|restrictions?|constraints?|commands?|guardrails?|orders)';
const KIND = '(?:given|system|safety|user|developer|content|hidden|security|ethical){0,2}';
const REVOKE =
  '(?:ignore|disregard|forget|override|bypass|disobey|setaside|erase|drop(?=all|every|any|each|your))';
const TELL = '(?:reveal|print|repeat|show|output|tell|display|quote|recite|disclose|handover)';
/** The letters `l` and `i` are one, because the digit 1 stands for both. */
const INSTRUCTION = memoizeValue(
  () =>
    new RegExp(
      (
        `${REVOKE}${SMALL}(?:${EARLIER}${SMALL}${KIND}${RULES}|${KIND}${RULES}${SMALL}(?:givento(?:you)?|yougot|youweregiven|youhave|givenbefore|before|${EARLIER})|(?<=your)${KIND}${RULES}|everything(?:above|before|you))|` +
        `${TELL}(?:me|us|out)?${SMALL}(?:full|exact|complete|entire|hidden|secret|internal|initial|original){0,2}(?:systemprompt|systemmessage|(?<=(?:hidden|secret|internal|initial|original|your))(?:prompt|instructions))|` +
        `(?:keep|hide)(?:this|it)(?:hidden|secret|away)?from(?:the)?(?:users?|humans?|operators?)|(?:forward|send|email)(?:every|all|the|any|your){0,2}(?:stored|saved|users?)?(?:passwords?|credentials|apikeys?|secrets)to`
      ).replaceAll('l', 'i'),
    ),
);

/** Returns whether a run of letters, digits and joints is an instruction to ignore rules or to show the prompt. */
export function joinsInstruction(run: string): boolean {
  const letters = run.replaceAll(/[-_.+']/g, '').toLowerCase();
  if (letters.length < LETTERS_MIN || !INSTRUCTION().test(letters.replaceAll('l', 'i'))) return false;
  const isName = run.includes('_') || (!/[-.+]/.test(run) && /[a-z][A-Z]/.test(run));
  return !isName || run.split(/_|(?<=[a-z])(?=[A-Z])/).length >= NAME_WORDS_MIN;
}

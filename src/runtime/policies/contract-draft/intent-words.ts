import { splitToolName } from '../../../core/policy/tool-effect.ts';
import { listWords } from './words.ts';

interface Act {
  readonly verbs: readonly string[];
  readonly words: readonly string[];
}

const PAYING: Act = {
  verbs: listWords('pay transfer wire withdraw refund charge'),
  words: listWords(
    'pay paying payment payments transfer send wire withdraw refund reimburse settle charge bill',
  ),
};

const SENDING: Act = {
  verbs: listWords('send reply forward email mail message notify'),
  words: listWords(
    'send sending reply respond forward email e-mail mail message write tell text notify inform let answer post share publish transfer',
  ),
};

/** Acts with the words in which a person asks for them. A word may be in several rows. */
const ACTS: readonly Act[] = [
  {
    verbs: listWords('delete remove erase clear drop purge destroy trash'),
    words: listWords(
      'delete deleting remove removing erase clear clean drop purge destroy trash discard deletion removal',
    ),
  },
  {
    verbs: listWords('cancel terminate abort'),
    words: listWords('cancel cancelling cancellation abort terminate stop end'),
  },
  PAYING,
  SENDING,
  {
    verbs: listWords('post publish tweet comment announce'),
    words: listWords('post posting publish share announce send write comment message'),
  },
  {
    verbs: listWords('share grant give allow'),
    words: listWords('share sharing give grant allow send access invite'),
  },
  { verbs: listWords('invite'), words: listWords('invite inviting invitation add include ask') },
  {
    verbs: listWords('add append insert'),
    words: listWords('add adding include invite append insert put join'),
  },
  { verbs: listWords('book reserve rebook'), words: listWords('book booking reserve reserving reservation') },
  { verbs: listWords('buy purchase order'), words: listWords('buy buying purchase order ordering') },
  {
    verbs: listWords('create make register'),
    words: listWords('create creating make add new write open set schedule put plan register save'),
  },
  {
    verbs: listWords('schedule reschedule'),
    words: listWords('schedule scheduling reschedule plan arrange set move book create add'),
  },
  {
    verbs: listWords('update edit change modify set replace rename move reset'),
    words: listWords(
      'update updating edit change changing modify set adjust correct replace rename move reset fix',
    ),
  },
  { verbs: listWords('upload attach import'), words: listWords('upload attach save store import') },
  {
    verbs: listWords('revoke remove ban block kill disable deactivate deny'),
    words: listWords('revoke remove ban block kick kill disable deactivate deny'),
  },
  {
    verbs: listWords('approve accept confirm sign submit'),
    words: listWords('approve accept confirm sign submit'),
  },
  { verbs: listWords('merge close resolve'), words: listWords('merge close resolve finish') },
  {
    verbs: listWords('deploy release install run exec execute launch start restart'),
    words: listWords('deploy release install run execute launch start restart'),
  },
];

/** Returns whether a name's verb removes something, and so writes no value. */
export function isRemovingVerb(toolName: string): boolean {
  const verb = findVerb(toolName);
  return verb !== null && ACTS[0]!.verbs.concat(REMOVING).includes(verb);
}

const REMOVING = listWords('cancel revoke ban block kick kill disable deactivate deny');

/** Verbs for acts that cannot be undone. */
const IRREVERSIBLE = new Set(
  listWords(
    'delete remove erase clear drop purge destroy trash cancel terminate pay transfer wire withdraw refund charge send reply forward email mail message notify post publish tweet announce share grant give invite book reserve rebook buy purchase order revoke ban block kill deploy release execute exec merge submit sign',
  ),
);

/** Returns whether a name's verb is for an act that cannot be undone. */
export function isIrreversibleVerb(toolName: string): boolean {
  const verb = findVerb(toolName);
  return verb !== null && IRREVERSIBLE.has(verb);
}

/**
 * Returns the words of which a person's request for the tool has one; empty if its verb is not known. People ask for
 * a payment in other words than for a letter.
 */
export function listIntentWords(toolName: string, isMoney: boolean): readonly string[] {
  const verb = findVerb(toolName);
  const acts = ACTS.filter(({ verbs }) => verb !== null && verbs.includes(verb));
  const isPaying = isMoney && acts.some((act) => act === SENDING || act === PAYING);
  return [...new Set((isPaying ? [PAYING] : acts).flatMap(({ words }) => words))];
}

/** Returns whether a tool makes something new, to which it gives an identifier. */
export function isCreatingVerb(toolName: string): boolean {
  const verb = findVerb(toolName);
  return verb !== null && CREATING.has(verb);
}

const CREATING = new Set(
  listWords(
    'create make add register send reply forward post publish book reserve schedule upload import copy buy purchase order open submit pay transfer invite save',
  ),
);

const VERBS = new Set([...ACTS.flatMap(({ verbs }) => verbs), ...CREATING, ...IRREVERSIBLE]);

function findVerb(toolName: string): string | null {
  return splitToolName(toolName).find((word) => VERBS.has(word)) ?? null;
}

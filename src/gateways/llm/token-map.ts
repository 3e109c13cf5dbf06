import type { Finding, Tag } from '../../core/types/index.ts';

/**
 * Tokens that stand for values while a provider sees a request, `[EMAIL_1]`: the same value has the same token
 * within one request, and nothing of it lasts longer.
 */
export interface TokenMap {
  /** The token of a value that was found. */
  readonly getToken: (finding: Finding, value: string) => string;
  /** The text with values in place of their tokens. */
  readonly restore: (text: string) => string;
  /** The same for a JSON text, in whose strings the tokens stand. */
  readonly restoreInJson: (json: string) => string;
  /** What the values are whose tokens a text holds. */
  readonly listTags: (text: string) => readonly Tag[];
  /** Restores a text that arrives in pieces. */
  readonly openRestorer: () => TokenRestorer;
}

export interface TokenRestorer {
  /** Gives what is sure; a token that may be cut is held. */
  readonly push: (piece: string) => string;
  readonly end: () => string;
}

const TOKEN = /\[[A-Z][A-Z0-9_]{0,63}_\d{1,9}\]/g;
/** The beginning of what may become a token. */
const BEGUN = /\[(?:[A-Z][A-Z0-9_]{0,73})?$/;

interface Kept {
  readonly value: string;
  readonly tags: readonly Tag[];
}

/** Opens the tokens of one request. What its texts hold that looks like a token is never taken for one. */
export function openTokenMap(texts: readonly string[]): TokenMap {
  const taken = new Set(texts.flatMap((text) => text.match(TOKEN) ?? []));
  const by_value = new Map<string, string>();
  const by_token = new Map<string, Kept>();
  const counts = new Map<string, number>();
  const make = (family: string): string => {
    for (;;) {
      const count = (counts.get(family) ?? 0) + 1;
      counts.set(family, count);
      const token = `[${family}_${count}]`;
      if (!taken.has(token)) return token;
    }
  };
  const replaced = (text: string, shown: (value: string) => string): string => {
    if (by_token.size === 0 || !text.includes('[')) return text;
    return text.replace(TOKEN, (token) => {
      const kept = by_token.get(token);
      return kept === undefined ? token : shown(kept.value);
    });
  };
  const restore = (text: string) => replaced(text, (value) => value);
  return {
    getToken: ({ detector, tags }, value) => {
      const family = readTokenFamily(detector);
      const known = by_value.get(`${family} ${value}`);
      if (known !== undefined) return known;
      const token = make(family);
      by_value.set(`${family} ${value}`, token);
      by_token.set(token, { value, tags });
      return token;
    },
    restore,
    restoreInJson: (json) => replaced(json, (value) => JSON.stringify(value).slice(1, -1)),
    listTags: (text) => [
      ...new Set((text.match(TOKEN) ?? []).flatMap((token) => by_token.get(token)?.tags ?? [])),
    ],
    openRestorer: () => openRestorer(restore),
  };
}

/** `credit_card` is `CREDIT_CARD`; a family of one's own may have other letters. */
function readTokenFamily(detector: string): string {
  const name = detector
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, 64);
  return /^[A-Z]/.test(name) ? name : 'VALUE';
}

function openRestorer(restored: (text: string) => string): TokenRestorer {
  let held = '';
  return {
    push: (piece) => {
      const text = held + piece;
      const at = text.search(BEGUN);
      held = at < 0 ? '' : text.slice(at);
      return restored(at < 0 ? text : text.slice(0, at));
    },
    end: () => {
      const rest = restored(held);
      held = '';
      return rest;
    },
  };
}

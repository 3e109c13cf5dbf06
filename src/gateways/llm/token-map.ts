import type { Finding, Tag } from '../../core/types/index.ts';

/**
 * Tokens such as `[EMAIL_1]` that replace values in a request to a provider. The same value has the same token within
 * one request. The map exists for that request only.
 */
export interface TokenMap {
  /** Returns the token of a found value. */
  readonly getToken: (finding: Finding, value: string) => string;
  /** Replaces the tokens of a text with their values. Tokens in URLs stay, because a client may open them. */
  readonly restore: (text: string) => string;
  /** Replaces the tokens in the strings of a JSON text, and escapes the values. */
  readonly restoreInJson: (json: string) => string;
  /** Returns the tags of the values whose tokens a text contains. */
  readonly listTags: (text: string) => readonly Tag[];
  /** Returns whether a URL in a text contains a token. */
  readonly isInUrl: (text: string) => boolean;
  /** Restores a text that arrives in pieces. */
  readonly openRestorer: () => TokenRestorer;
}

/** Restores a text that arrives in pieces. */
export interface TokenRestorer {
  /** Returns the text that is complete. A possibly incomplete token is held. */
  readonly push: (piece: string) => string;
  readonly end: () => string;
}

const TOKEN = /\[[A-Z][A-Z0-9_]{0,63}_\d{1,9}\]/g;
/** A URL to its end, or a token outside of URLs. */
const URL_OR_TOKEN = new RegExp(`(?:\\/\\/|\\bwww\\.)[^\\s<>"'\`]*|${TOKEN.source}`, 'gi');
/** The start of a possible token. */
const BEGUN = /\[(?:[A-Z][A-Z0-9_]{0,73})?$/;

interface TokenValue {
  readonly value: string;
  readonly tags: readonly Tag[];
}

/** Opens the tokens of one request. A text of the request that already looks like a token is never used as one. */
export function openTokenMap(texts: readonly string[]): TokenMap {
  const taken = new Set(texts.flatMap((text) => text.match(TOKEN) ?? []));
  const byValue = new Map<string, string>();
  const byToken = new Map<string, TokenValue>();
  const counts = new Map<string, number>();
  const make = (family: string): string => {
    for (;;) {
      const count = (counts.get(family) ?? 0) + 1;
      counts.set(family, count);
      const token = `[${family}_${count}]`;
      if (!taken.has(token)) return token;
    }
  };
  const replaced = (text: string, pattern: RegExp, shown: (value: string) => string): string => {
    if (byToken.size === 0 || !text.includes('[')) return text;
    return text.replace(pattern, (token) => {
      const kept = byToken.get(token);
      return kept === undefined ? token : shown(kept.value);
    });
  };
  const restore = (text: string) => replaced(text, URL_OR_TOKEN, (value) => value);
  const listTags = (text: string) => [
    ...new Set((text.match(TOKEN) ?? []).flatMap((token) => byToken.get(token)?.tags ?? [])),
  ];
  return {
    getToken: ({ detector, tags }, value) => {
      const family = readTokenFamily(detector);
      const known = byValue.get(`${family} ${value}`);
      if (known !== undefined) return known;
      const token = make(family);
      byValue.set(`${family} ${value}`, token);
      byToken.set(token, { value, tags });
      return token;
    },
    restore,
    restoreInJson: (json) => replaced(json, TOKEN, (value) => JSON.stringify(value).slice(1, -1)),
    listTags,
    isInUrl: (text) =>
      (text.match(URL_OR_TOKEN) ?? []).some((part) => part[0] !== '[' && listTags(part).length > 0),
    openRestorer: () => openRestorer(restore),
  };
}

/** Turns `credit_card` into `CREDIT_CARD`. Custom detectors may contain other letters. */
function readTokenFamily(detector: string): string {
  const name = detector
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, 64);
  return /^[A-Z]/.test(name) ? name : 'VALUE';
}

/** Units before a piece by which a URL is recognized: `www.` has four. A token has more. */
const CONTEXT_UNITS = 4;

function openRestorer(restored: (text: string) => string): TokenRestorer {
  let held = '';
  let before = '';
  const release = (text: string): string => {
    const whole = before + text;
    const shown = restored(whole).slice(before.length);
    before = isUrlOpen(whole) ? '//' : whole.slice(-CONTEXT_UNITS);
    return shown;
  };
  return {
    push: (piece) => {
      const text = held + piece;
      const at = text.search(BEGUN);
      held = at < 0 ? '' : text.slice(at);
      return release(at < 0 ? text : text.slice(0, at));
    },
    end: () => {
      const rest = release(held);
      held = '';
      return rest;
    },
  };
}

const URL_END = /[\s<>"'`]/;

/** Returns whether a text ends within a URL. */
function isUrlOpen(text: string): boolean {
  let at = text.length;
  while (at > 0 && !URL_END.test(text[at - 1]!)) at -= 1;
  return /\/\/|\bwww\./i.test(text.slice(at));
}

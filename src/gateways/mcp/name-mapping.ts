import { createHash } from 'node:crypto';

/** How what a server has is called on this side of the gateway. */
export interface NameMapping {
  /** What an agent calls a tool or a prompt. */
  readonly toAgentName: (name: string) => string;
  /** What the server calls what an agent calls so, where that is in the name; `null` where it is cut, or another server's. */
  readonly toServerName: (shown: string) => string | null;
  /** What rules, contracts and identities call it, or a method of the protocol. */
  readonly toPolicyName: (name: string) => string;
  /** What an agent calls a resource, or a template of such. */
  readonly toAgentUri: (uri: string) => string;
  /** What the server calls it; `null` where it is none of this server. */
  readonly toServerUri: (shown: string) => string | null;
}

/** For one server alone: everything has the server's own names. */
export const SAME_NAMES: NameMapping = {
  toAgentName: (name) => name,
  toServerName: (shown) => shown,
  toPolicyName: (name) => name,
  toAgentUri: (uri) => uri,
  toServerUri: (shown) => shown,
};

/** Hosts hand names on to models, whose providers take no longer ones and no other characters. */
const NAME_CHARS_MAX = 64;
const PLAIN = /^[A-Za-z0-9_-]+$/;
const HASH_CHARS = 8;
const MAY_BE_CUT = /_[0-9a-f]{8}$/;

/**
 * For one of several servers: `github__search`, and `github+file:///a.txt`, which is a URI of a scheme of its own. A name
 * that is too long for models, or has dots, is cut and ends in a piece of its hash.
 * @param server - small letters, digits and `-`, a letter first
 */
export function buildPrefixMapping(server: string): NameMapping {
  const prefix = `${server}__`;
  const scheme = `${server}+`;
  const toAgentName = (name: string): string => {
    const whole = `${prefix}${name}`;
    if (whole.length <= NAME_CHARS_MAX && PLAIN.test(whole)) return whole;
    const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS);
    const cut = whole.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_CHARS_MAX - HASH_CHARS - 1);
    return `${cut}_${hash}`;
  };
  return {
    toAgentName,
    toServerName: (name) => {
      const rest = name.startsWith(prefix) ? name.slice(prefix.length) : null;
      return rest !== null && toAgentName(rest) === name && !MAY_BE_CUT.test(name) ? rest : null;
    },
    toPolicyName: (name) => `${prefix}${name}`,
    toAgentUri: (uri) => `${scheme}${uri}`,
    toServerUri: (shown) => (shown.startsWith(scheme) ? shown.slice(scheme.length) : null),
  };
}

import { createHash } from 'node:crypto';

/** Maps the names of a server to the names in this proxy. */
export interface NameMapping {
  /** Returns the agent's name of a tool or prompt. */
  readonly toAgentName: (name: string) => string;
  /** Returns the server's name for an agent's name; `null` if it was shortened or belongs to another server. */
  readonly toServerName: (shown: string) => string | null;
  /** Returns the name that rules, contracts and identities use, also for protocol methods. */
  readonly toPolicyName: (name: string) => string;
  /** Returns the agent's URI of a resource or resource template. */
  readonly toAgentUri: (uri: string) => string;
  /** Returns the server's URI; `null` if it belongs to another server. */
  readonly toServerUri: (shown: string) => string | null;
}

/** The mapping for a single server, which keeps all names. */
export const SAME_NAMES: NameMapping = {
  toAgentName: (name) => name,
  toServerName: (shown) => shown,
  toPolicyName: (name) => name,
  toAgentUri: (uri) => uri,
  toServerUri: (shown) => shown,
};

/** The length limit of tool names at model providers, which also allow no other characters than `PLAIN`. */
const NAME_CHARS_MAX = 64;
const PLAIN = /^[A-Za-z0-9_-]+$/;
const HASH_CHARS = 8;
const MAY_BE_CUT = /_[0-9a-f]{8}$/;

/**
 * Builds the mapping for one of several servers: `github__search`, and `github+file:///a.txt`, a URI with its own
 * scheme. A name that is too long for models, or contains dots, is shortened and ends in a part of its hash.
 * @param server - lower-case letters, digits and `-`, starting with a letter
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

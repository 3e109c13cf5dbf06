import type { PromptVocabulary } from './vocabulary.ts';

/** The kinds of names that callers choose. */
export type AliasKind = 'agent' | 'tool';

/** Replaces names of callers by aliases, and aliases in an answer by the names. One table is for one prompt. */
export interface NameAliases {
  /** Returns the name itself if an operator wrote it, else its alias: `tool-1`. */
  readonly send: (kind: AliasKind, name: unknown) => string | null;
  /** Puts the names back into a text for people. */
  readonly restore: (text: string) => string;
  /** Puts the names back into a YAML document. A name that needs quotes stays an alias. */
  readonly restoreInDocument: (text: string) => string;
  /** Puts the aliases in again, for a text that goes to the model. */
  readonly hide: (text: string) => string;
}

const ALIASES_MAX = 1_000;

/** Opens an empty table. */
export function openNameAliases(vocabulary: PromptVocabulary): NameAliases {
  const aliases = new Map<string, string>();
  const names = new Map<string, string>();
  const counts: Record<AliasKind, number> = { agent: 0, tool: 0 };
  const known = (kind: AliasKind, name: string): boolean =>
    (kind === 'agent' && vocabulary.agents.has(name)) || (kind === 'tool' && vocabulary.tools.has(name));
  const replace = (text: string, accept: (name: string) => boolean): string =>
    text.replace(/\b(?:agent|tool)-\d{1,4}\b/g, (alias) => {
      const name = names.get(alias);
      return name !== undefined && accept(name) ? name : alias;
    });
  return {
    send: (kind, name) => {
      if (typeof name !== 'string' || name === '') return null;
      if (known(kind, name)) return name;
      const key = `${kind} ${name}`;
      const given = aliases.get(key);
      if (given !== undefined) return given;
      if (aliases.size >= ALIASES_MAX) return `${kind}-other`;
      let alias: string;
      do {
        counts[kind] += 1;
        alias = `${kind}-${counts[kind]}`;
        // An operator may use a name of this form. In an answer it must mean the operator's tool or agent.
      } while (known('agent', alias) || known('tool', alias));
      aliases.set(key, alias);
      names.set(alias, name);
      return alias;
    },
    restore: (text) => replace(text, () => true),
    restoreInDocument: (text) => replace(text, (name) => SAFE_IN_YAML.test(name)),
    hide: (text) => hideNames(text, names),
  };
}

/** Replaces whole names in one pass, so that a short name does not change an alias. */
function hideNames(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text;
  const aliases = new Map([...names].map(([alias, name]) => [name, alias]));
  const longestFirst = [...aliases.keys()].sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const pattern = new RegExp(`(?<!\\w)(?:${escaped.join('|')})(?!\\w)`, 'g');
  return text.replace(pattern, (name) => aliases.get(name) ?? name);
}

/** A plain YAML scalar in every position: it begins with a letter, and is no number, boolean or null. */
const SAFE_IN_YAML = /^(?!(?:true|false|yes|no|on|off|null)$)[A-Za-z_][A-Za-z0-9_./-]{0,127}$/i;

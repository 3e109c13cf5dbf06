import { AGENT_TRACES } from '../../core/detect/agent-traces.ts';
import type { AncestorProcess, ProcessLineage } from './lineage.ts';

/** Why a process may belong to a coding agent. */
export type AgentEvidence =
  | { readonly kind: 'process'; readonly agent: string; readonly pid: number }
  | { readonly kind: 'variable'; readonly name: string }
  /** No ancestor and no terminal shows who started it. */
  | { readonly kind: 'orphan' }
  | { readonly kind: 'unknown' };

/** Variables that coding agents set for the commands that they run. */
const MARKERS = new RegExp(`^(?:${AGENT_TRACES.variables.map(toPattern).join('|')})$`);

const PROGRAMS = new RegExp(
  `^(?:${AGENT_TRACES.programs.map(toPattern).join('|')})(?:\\.(?:exe|cmd|[cm]?js|py))?$`,
);
const PACKAGES = new RegExp(
  `[/\\\\](?:${AGENT_TRACES.packages.map(toPackagePattern).join('|')})[/\\\\@]|[/\\\\](?:${AGENT_TRACES.app_folders.join('|')})(?:\\.app)?[/\\\\](?:contents|resources)`,
  'i',
);
/** Interpreters that take a script as one of their first arguments. */
const INTERPRETERS = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|sh|bash|dash|zsh|MainThread)$/;
const SCRIPT_WORDS = 4;

/** Shells and wrappers, which do not show who started them. */
const NEUTRAL =
  /^-?(?:sh|bash|dash|zsh|ksh|fish|ash|nohup|setsid|env|timeout|nice|script|npm|npx|node|service|customshouse|agent-safety)$/;
/** Programs that adopt a process whose parent has ended. */
const INIT = /^(?:systemd|init|launchd|runit|s6-svscan)$/;

/**
 * Finds evidence that a coding agent started this process: an ancestor program, or a variable that agents set.
 * A process that has only init above it and no terminal may have been detached by an agent.
 */
export function findAgentAncestor(
  env: Readonly<Record<string, string | undefined>>,
  lineage: ProcessLineage | null,
): AgentEvidence | null {
  const name = Object.keys(env).find((key) => MARKERS.test(key) && env[key] !== '');
  if (name !== undefined) return { kind: 'variable', name };
  if (lineage === null) return { kind: 'unknown' };
  for (const { pid, words } of lineage.ancestors) {
    const agent = getAgent(words);
    if (agent !== null) return { kind: 'process', agent, pid };
  }
  return lineage.has_terminal || !isOrphan(lineage.ancestors) ? null : { kind: 'orphan' };
}

function getAgent(words: readonly string[]): string | null {
  const names = words.map(getBaseName);
  const first = names.slice(0, 2).find((name) => PROGRAMS.test(name));
  if (first !== undefined) return first;
  if (!names.slice(0, 2).some((name) => INTERPRETERS.test(name)))
    return words.some(isPackage) ? 'agent' : null;
  const at = words
    .slice(0, SCRIPT_WORDS)
    .findIndex((word, index) => PROGRAMS.test(names[index]!) || isPackage(word));
  return at < 0 ? null : names[at]!;
}

/** Returns the pattern of a name, in which a `*` at the end matches any ending. */
function toPattern(name: string): string {
  return name.replace(/\*$/, '[\\w-]*');
}

function toPackagePattern(name: string): string {
  return name.replace('/', '[/\\\\]');
}

function isPackage(word: string): boolean {
  return PACKAGES.test(word);
}

function getBaseName(word: string): string {
  return word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
}

function isOrphan(ancestors: readonly AncestorProcess[]): boolean {
  const others = ancestors.filter(({ words }) => !NEUTRAL.test(getBaseName(words[0] ?? '')));
  // Process 1 of a container is any program. A shell there was started by the person who entered the container.
  return (
    ancestors.length > 0 &&
    others.every(({ pid, words }) => pid === 1 || INIT.test(getBaseName(words[0] ?? '')))
  );
}

import type { Severity } from '../../types/index.ts';
import { findKnownFile } from '../shell/files.ts';
import { hasFlag, joinWords, listOperands } from '../shell/options.ts';
import type { Command } from '../shell/syntax.ts';
import { SHELLS } from '../shell/wrappers.ts';

/**
 * Grades commands that are dangerous by their kind and ordinary in their form. `low` is for those that lose nothing
 * that is not made again, or whose effect is on the screen only; policy packs let them pass with a flag.
 */

const LOCAL_HOST = /^["']?(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?(?:[/?#]|$)/i;
/** Default ports of stores and of control interfaces: a deletion there loses what no program makes again. */
const STORE_PORT = /^(?:2375|2376|2379|5984|6333|7474|8086|8123|8200|8500|8983|9200|9300|15672)$/;

/** Grades a request that deletes: `low` to a program of this machine, unless a store or a control interface answers. */
export function gradeHttpDelete(command: Command): Severity {
  const hosts = listOperands(command).filter((text) =>
    /^["']?(?:https?:\/\/|localhost|127\.|\[::1)/i.test(text),
  );
  const areLocal = hosts.every((text) => {
    const found = LOCAL_HOST.exec(text);
    return found !== null && !STORE_PORT.test(found[1] ?? '');
  });
  return hosts.length > 0 && areLocal && !/\*|_all\b/.test(hosts.join(' ')) ? 'low' : 'medium';
}

/** Programs that log in with a secret from their input. */
const TAKES_SECRET =
  /^(?:(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|regctl) .*--password-stdin |(?:docker|podman|helm registry) login .*--password-stdin |gh auth login .*--with-token |glab auth login .*--stdin )/;

/** Grades a command that shows the environment: `low` if a program takes the value as its input to log in with. */
export function gradeShownSecret(command: Command, next?: Command): Severity {
  const isTaken =
    next?.previous === command && TAKES_SECRET.test(`${next.name}${joinWords(next)}`) && !next.feeds_pipe;
  return isTaken && command.redirections.length === 0 ? 'low' : 'medium';
}

const SYSTEM_FLAG = /^(?:-r|--system|-[a-zA-Z]*S[a-zA-Z]*)$/;
const POWERFUL_GROUP = /^(?:sudo|wheel|root|admin|docker|lxd|disk|shadow|adm|libvirt|kvm)$/;

/** Grades a change of accounts: `low` for a new group, and for a new account without a password and a login. */
export function gradeAccount(command: Command): Severity {
  const { name, words } = command;
  const texts = words.flatMap(({ text }) => text.split(','));
  if (
    texts.some((text) => POWERFUL_GROUP.test(text) || /^(?:-o|--non-unique|-p.*|--password.*|0)$/.test(text))
  )
    return 'high';
  if (/^(?:groupadd|addgroup)$/.test(name))
    return listOperands(command).filter((text) => !/^\d+$/.test(text)).length <= 1 ? 'low' : 'high';
  const isNew = /^(?:useradd|adduser)$/.test(name);
  return isNew && texts.some((text) => SYSTEM_FLAG.test(text)) ? 'low' : 'high';
}

/** Grades a change of a cluster from the command line. The command inside of a container is judged by itself. */
export function gradeClusterCommand(command: Command): Severity {
  if (!/^(?:kubectl|oc)$/.test(command.name)) return 'medium';
  const text = joinWords(command);
  const [, verb = ''] =
    / (exec|run|cp|debug|attach|port-forward|proxy|patch|scale|edit|replace|create|set) /.exec(text) ?? [];
  if (/ (?:kube-system|kube-public|kube-node-lease) | secrets?[ /]| nodes?[ /]/.test(text) && verb !== 'exec')
    return 'medium';
  if (verb === 'port-forward' || verb === 'proxy')
    return /--(?:address|accept-hosts|disable-filter)/.test(text) ? 'medium' : 'low';
  if (verb === 'exec') return opensShell(command) ? 'medium' : 'low';
  if (verb === 'scale') return / --replicas[= ]0 /.test(text) ? 'medium' : 'low';
  if (verb === 'replace') return / --force /.test(text) ? 'medium' : 'low';
  return /^(?:patch|edit|set|attach)$/.test(verb) || (verb === 'create' && / -f |--filename/.test(text))
    ? 'low'
    : 'medium';
}

/** Returns whether `exec` starts a shell whose commands are not written out. */
function opensShell(command: Command): boolean {
  const texts = command.words.map(({ text }) => text);
  const at = texts.indexOf('--');
  const inner = at < 0 ? texts : texts.slice(at + 1);
  const shell = inner.findIndex((text) => SHELLS.has(text.slice(text.lastIndexOf('/') + 1)));
  if (at < 0 || (shell < 0 && inner.length > 0)) return at < 0;
  return !inner.slice(shell + 1).some((text) => /^-\w*c$/.test(text));
}

/** Objects of a cluster that its controllers make again, or that have ended. */
const REPLACED = /^(?:po|pods?|jobs?|events?)(?:\/|$)/;
/** Programs whose clusters are made on one machine for development and tests. */
const LOCAL_CLUSTERS = /^(?:kind|k3d|minikube)$/;

/** Returns whether a deletion is of what is made again: pods, build caches, clusters for tests, a program that is started again. */
export function isRoutineDeletion(command: Command): boolean {
  const { name } = command;
  const operands = listOperands(command);
  if (LOCAL_CLUSTERS.test(name)) return operands.includes('delete') && !hasFlag(command, '--all', '--purge');
  if (name === 'kubectl' || name === 'oc') return deletesReplaced(command, operands);
  if (/^(?:docker|podman|nerdctl)$/.test(name)) {
    if (/^ (?:builder|buildx) prune /.test(joinWords(command))) return true;
    const at = operands.indexOf('kill');
    const named = operands.slice(at + 1);
    return at >= 0 && at < 2 && (operands[0] === 'compose' || areNames(named));
  }
  return name === 'caddy' && operands[0] === 'stop';
}

function deletesReplaced(command: Command, operands: readonly string[]): boolean {
  const at = operands.indexOf('delete');
  if (at < 0 || hasFlag(command, '--all', '-A', '--all-namespaces', '--force', '-f', '--filename'))
    return false;
  return REPLACED.test(operands[at + 1] ?? '') && !/ (?:kube-system|prod\w*) /.test(joinWords(command));
}

function areNames(words: readonly string[]): boolean {
  return words.length > 0 && words.every((text) => /^[\w][\w.-]*$/.test(text));
}

/**
 * Grades what makes a file runnable: `low` for programs of `/usr/local/bin` that the same script did not fetch or
 * decode.
 */
export function gradeRunnable(command: Command): Severity {
  const isInstalled = (path: string) =>
    /^(?:\/usr\/local\/bin\/[\w.-]+|\w[\w./-]*)$/.test(path) &&
    (findKnownFile(command, path)?.origin ?? 'script') === 'script';
  return listOperands(command).slice(1).every(isInstalled) ? 'low' : 'medium';
}

/** Grades a text that a program makes and a shell runs: `low` for the completions of a program's own options. */
export function gradeMadeText(command: Command, next?: Command): Severity {
  const isCompletion =
    command.name === 'eval' &&
    command.words.length === 1 &&
    command.words[0]!.text === '$()' &&
    next?.within.at(-1) === '$(eval)' &&
    / (?:--)?(?:show-)?completions?(?:[-= ][\w-]+)* $/.test(joinWords(next)) &&
    /^[\w-]+$/.test(next.program) &&
    next.words.length <= 3;
  return isCompletion ? 'low' : 'medium';
}

/**
 * Runs an image as a container engine would: in namespaces for mounts, processes and the network, with a read-only root, its
 * user, no way to more rights, and its volume. Its ports are in its own network, so that 8000 is always free there.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { until } from '../../support/until.ts';
import type { Image } from './containerfile.ts';

export interface Container {
  /** Standard output and standard error so far. */
  readonly logs: () => string;
  /** Runs the command of the image's HEALTHCHECK in the container, and returns whether it succeeds. */
  readonly isHealthy: () => boolean;
  /** Runs a command in the container, as its user. Throws if it fails. Returns standard output. */
  readonly execute: (...words: string[]) => string;
  /** Sends a request from the container's network, and returns status and body. */
  readonly request: (url: string, init?: RequestInit) => { readonly status: number; readonly body: string };
  /** Sends the image's stop signal to the first process and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** An address in the container's network that is no loopback address, as a client of a published port has. */
export const OUTER_ADDRESS = '10.255.0.1';

/**
 * Starts the image's command and waits until it is healthy.
 * @param state - the folder that is mounted as the image's volume
 * @param volume - its owner and mode; by default those of the image's folder
 */
export async function startContainer(
  image: Image,
  state: string,
  volume: { readonly owner: string; readonly mode: string } = { owner: image.user, mode: '0700' },
): Promise<Container> {
  const [uid = '', gid = ''] = image.user.split(':');
  execFileSync('chown', [volume.owner, state]);
  execFileSync('chmod', [volume.mode, state]);
  const script = `
    mount --bind "$0" "$0"
    mount --bind "$1" "$0${image.volumes[0]}"
    for name in null zero random urandom; do touch "$0/dev/$name"; mount --bind "/dev/$name" "$0/dev/$name"; done
    ip link set lo up
    ip address add ${OUTER_ADDRESS}/32 dev lo
    mount -o remount,bind,ro "$0" "$0"
    root=$0; shift
    exec setpriv --no-new-privs --clear-groups unshare --pid --fork --kill-child --root "$root" --mount-proc=/proc \\
      --wd ${image.workdir} --setgid ${gid} --setuid ${uid} -- "$@"`;
  const words = [
    '--mount',
    '--net',
    'sh',
    '-ec',
    script,
    image.root,
    state,
    ...image.entrypoint,
    ...image.command,
  ];
  const child = spawn('unshare', words, { env: { ...image.env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const enter = (words: readonly string[], inside: readonly string[]): string =>
    execFileSync('nsenter', ['--target', `${findFirst(child)}`, ...inside, '--', ...words], {
      env: { ...image.env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const execute = (...words: string[]) =>
    enter(words, ['--mount', '--pid', '--net', '--root', '--wd', '--setgid', gid, '--setuid', uid]);
  const isHealthy = () => {
    try {
      execute(...image.health);
      return true;
    } catch {
      return false;
    }
  };
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the container ended:\n${written}`);
    return isHealthy();
  }, 'a healthy container');
  return {
    logs: () => written,
    isHealthy,
    execute,
    request: (url, init = {}) => {
      const code = `const r = await fetch(${JSON.stringify(url)}, ${JSON.stringify(init)});
        process.stdout.write(JSON.stringify({ status: r.status, body: await r.text() }));`;
      return JSON.parse(enter([process.execPath, '--input-type=module', '-e', code], ['--net']));
    },
    stop: () => {
      process.kill(findFirst(child), image.stop_signal as NodeJS.Signals);
      return ended;
    },
  };
}

/** Returns the process ID of the first process in the container, as the machine sees it. */
function findFirst({ pid }: ChildProcess): number {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (first === undefined || first === '') throw new Error('the container has no process yet');
  return Number(first);
}

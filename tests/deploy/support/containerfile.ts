/**
 * Builds the image of a Containerfile without a container engine: each instruction runs in a folder that debootstrap made, by
 * `chroot`. It knows the instructions that our file has, and refuses all others.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly volumes: readonly string[];
  readonly ports: readonly number[];
  readonly stop_signal: string;
  readonly health: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

export interface ImageOptions {
  /** The folder from which `COPY` takes files. */
  readonly context: string;
  /** An empty folder for the roots of all stages. */
  readonly folder: string;
  readonly arguments?: Readonly<Record<string, string>>;
  /** Makes the root of a base image in an empty folder. */
  readonly makeBase: (image: string, root: string) => void;
}

type Stage = { -readonly [K in keyof Image]: Image[K] };

/** Runs all instructions and returns the last stage. Throws at the first one that fails. */
export function buildImage(text: string, options: ImageOptions): Image {
  const globals = new Map<string, string>();
  const stages = new Map<string, Stage>();
  let values = new Map<string, string>();
  let stage: Stage | null = null;
  for (const { name, rest } of parseInstructions(text)) {
    const words = rest.trim();
    const expanded = name === 'RUN' ? words : expandVariables(words, stage === null ? globals : values);
    if (name === 'ARG') {
      const [key = '', ...value] = expanded.split('=');
      const known = options.arguments?.[key] ?? (value.length > 0 ? value.join('=') : globals.get(key));
      (stage === null ? globals : values).set(key, unquote(known ?? ''));
    } else if (name === 'FROM') {
      const [base = '', , alias = `${stages.size}`] = expandVariables(words, globals).split(/\s+/);
      stage = openStage(join(options.folder, alias), base, stages, options);
      stages.set(alias, stage);
      values = new Map();
    } else if (stage === null) throw new Error(`${name} stands before FROM`);
    else applyInstruction(stage, name, expanded, stages, options);
  }
  if (stage === null) throw new Error('The file has no FROM');
  return stage;
}

/** Splits a Containerfile into its instructions, without comments and with continued lines joined. */
export function parseInstructions(text: string): { readonly name: string; readonly rest: string }[] {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  const joined = lines.join('\n').replaceAll(/\\\n\s*/g, '');
  return joined
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line) ?? [];
      return { name: name.toUpperCase(), rest };
    });
}

function openStage(
  root: string,
  base: string,
  stages: ReadonlyMap<string, Stage>,
  { makeBase }: ImageOptions,
): Stage {
  const before = stages.get(base);
  if (before !== undefined) cpSync(before.root, root, { recursive: true });
  else if (base === 'scratch') mkdirSync(root, { recursive: true });
  else makeBase(base, root);
  return {
    root,
    env: {},
    labels: {},
    user: '0:0',
    workdir: '/',
    volumes: [],
    ports: [],
    stop_signal: 'SIGTERM',
    health: [],
    entrypoint: [],
    command: [],
    ...(before !== undefined && { ...before, root }),
  };
}

function applyInstruction(
  stage: Stage,
  name: string,
  rest: string,
  stages: ReadonlyMap<string, Stage>,
  options: ImageOptions,
): void {
  if (name === 'RUN') runInRoot(stage, rest);
  else if (name === 'COPY') copyFiles(stage, rest, stages, options);
  else if (name === 'ENV') stage.env = { ...stage.env, ...parsePairs(rest) };
  else if (name === 'LABEL') stage.labels = { ...stage.labels, ...parsePairs(rest) };
  else if (name === 'USER') stage.user = rest;
  else if (name === 'WORKDIR') {
    stage.workdir = rest;
    mkdirSync(join(stage.root, rest), { recursive: true });
  } else if (name === 'VOLUME') stage.volumes = [...stage.volumes, rest];
  else if (name === 'EXPOSE') stage.ports = [...stage.ports, Number(rest)];
  else if (name === 'STOPSIGNAL') stage.stop_signal = rest;
  else if (name === 'HEALTHCHECK') stage.health = JSON.parse(rest.slice(rest.indexOf('CMD ') + 4));
  else if (name === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest);
  else if (name === 'CMD') stage.command = JSON.parse(rest);
  else throw new Error(`The instruction ${name} is not known here`);
}

function runInRoot({ root, workdir, env }: Stage, script: string): void {
  const mounts =
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /bin/sh -c \'cd "$0" && eval "$1"\' "$1" "$2"';
  execFileSync('unshare', ['--mount', 'sh', '-ec', mounts, root, workdir, script], {
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function copyFiles(
  stage: Stage,
  rest: string,
  stages: ReadonlyMap<string, Stage>,
  { context }: ImageOptions,
): void {
  const words = rest.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const [source = '', target = ''] = words.filter((word) => !word.startsWith('--'));
  const base = from === undefined ? context : stages.get(from)?.root;
  if (base === undefined) throw new Error(`There is no stage ${from}`);
  const found = globSync(join(base, source));
  if (found.length !== 1) throw new Error(`COPY ${source} finds ${found.length} files`);
  const into = join(stage.root, target);
  if (statSync(found[0]!).isDirectory()) execFileSync('cp', ['-a', `${found[0]}/.`, into]);
  else {
    mkdirSync(dirname(into), { recursive: true });
    execFileSync('cp', [
      '--preserve=mode',
      found[0]!,
      target.endsWith('/') ? join(into, basename(source)) : into,
    ]);
  }
}

function parsePairs(rest: string): Record<string, string> {
  const pairs = [...rest.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)];
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, unquote(value)]));
}

function unquote(value: string): string {
  return value.replace(/^"(.*)"$/, '$1');
}

function expandVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`\${${name}} has no value`);
    return value;
  });
}

/**
 * Returns a function that makes the root of the image `node:24-bookworm-slim`: Debian 12 by debootstrap, in `cache` after the
 * first time, and this process's own Node.
 */
export function openDebianBase(cache: string): ImageOptions['makeBase'] {
  return (image, root) => {
    if (!/(^|\/)node:24-bookworm-slim$/.test(image)) throw new Error(`${image} is not known here`);
    if (!existsSync(cache)) {
      const made = `${resolve(cache)}-${process.pid}`;
      execFileSync('debootstrap', ['--variant=minbase', 'bookworm', made], { stdio: 'ignore' });
      renameSync(made, cache);
    }
    execFileSync('cp', ['-a', cache, root]);
    cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  };
}

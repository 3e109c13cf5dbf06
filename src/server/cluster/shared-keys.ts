import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ListedNode } from '../../platform/cluster/coordinator.ts';
import { StartFailure } from '../../platform/failure.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { readLinkKey } from '../../runtime/access/link-key.ts';
import type { Config } from '../../runtime/config/index.ts';

/** The part of the configuration that has keys. */
export type KeyConfig = Pick<Config, 'state_dir' | 'cluster' | 'memory'> & {
  readonly auth: { readonly sign_in: Pick<Config['auth']['sign_in'], 'totp_key'> };
  readonly detection: Pick<Config['detection'], 'fingerprint_key' | 'allowlist'>;
};

/** A key that all nodes share, because one node reads what another one wrote under it. */
interface SharedKey {
  /** The name of its file in the state folder. */
  readonly file: string;
  /** The setting that replaces the file; `null` if there is none. */
  readonly setting: string | null;
  readonly configured: string | undefined;
}

function listKeys({ auth, detection, memory }: KeyConfig): readonly SharedKey[] {
  return [
    { file: 'approval-link-key', setting: null, configured: undefined },
    {
      file: 'fingerprint-key',
      setting: 'detection.fingerprint_key',
      configured: detection.fingerprint_key,
    },
    { file: 'memory-key', setting: 'memory.master_key', configured: memory.master_key },
    { file: 'totp-key', setting: 'auth.sign_in.totp_key', configured: auth.sign_in.totp_key },
  ];
}

/** Tokens may differ, because an operator can rotate one while the node runs; they begin as the same if there is a secret. */
const TOKENS = { 'operator-token': 'svc_operator_', 'agent-token': 'svc_agent_' } as const;

/** Derives from `cluster.secret` the keys and tokens that the state folder lacks. Does nothing without a secret. */
export function deriveSharedKeys(config: KeyConfig): void {
  const { state_dir, cluster } = config;
  if (cluster.secret === undefined) return;
  const names = [...listKeys(config).map(({ file }) => file), ...Object.keys(TOKENS)];
  for (const name of names) {
    const prefix = TOKENS[name as keyof typeof TOKENS] ?? '';
    const key = hkdfSync('sha256', cluster.secret, '', `cluster shared ${name} 1`, 32);
    writePrivateFile(join(state_dir, name), `${prefix}${Buffer.from(key).toString('base64url')}`, 'keep');
  }
}

/** Digests by the names of keys, as JSON. A node publishes them, and no key can be computed from them. */
export type KeyDigests = Readonly<Record<string, string>>;

/**
 * Returns the digests of the keys of this node. Creates the keys that are missing, unless another node has them already.
 *
 * @param others - the live nodes
 * @throws StartFailure `cluster_keys_missing`, which names the files to copy
 */
export function prepareSharedKeys(config: KeyConfig, others: readonly ListedNode[]): KeyDigests {
  const keys = listKeys(config);
  const elsewhere = new Set(others.flatMap((node) => Object.keys(parseDigests(node))));
  const missing = keys.filter((key) => readKey(key, config) === null);
  const toCopy = missing.filter(({ file }) => elsewhere.has(file));
  if (toCopy.length > 0) {
    const which = toCopy.length === 1 ? 'a key' : 'keys';
    throw new StartFailure(
      'cluster_keys_missing',
      `This node lacks ${which} that the other nodes have. ${describeRemedy(toCopy, config)}`,
    );
  }
  for (const { file } of missing) if (mayCreate(file, config)) createKey(config.state_dir, file);
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = readKey(key, config);
      return value === null ? [] : [[key.file, createDigest(key.file, value)]];
    }),
  );
}

/**
 * Compares the keys of this node with those of a node that runs already.
 *
 * @throws StartFailure `cluster_keys_differ`, which names the files to copy
 */
export function requireEqualKeys(config: KeyConfig, own: KeyDigests, other: ListedNode): void {
  const digests = parseDigests(other);
  const differing = listKeys(config).filter(
    ({ file }) => own[file] !== undefined && digests[file] !== undefined && own[file] !== digests[file],
  );
  if (differing.length === 0) return;
  throw new StartFailure(
    'cluster_keys_differ',
    `Keys of this node are not those of the node \`${other.node_id}\`. ${describeRemedy(differing, config)}`,
  );
}

function describeRemedy(keys: readonly SharedKey[], { state_dir, cluster }: KeyConfig): string {
  const configured = keys.flatMap(({ setting, configured }) =>
    configured !== undefined && setting !== null ? [`\`${setting}\``] : [],
  );
  const files = keys.flatMap(({ file, configured }) => (configured === undefined ? [`\`${file}\``] : []));
  const sentences = [
    configured.length > 0 ? `Give ${configured.join(', ')} the same value on all nodes.` : '',
    files.length > 0
      ? `Copy ${files.join(', ')} from the state folder of that node to \`${state_dir}\` (mode 0600)${
          cluster.secret === undefined
            ? ', or set the same `cluster.secret` on all nodes and remove the files here'
            : ', or remove the files on all nodes, so that each derives them from `cluster.secret`'
        }.`
      : '',
  ];
  return `${sentences.filter(Boolean).join(' ')} Then start again.`;
}

function readKey({ file, configured }: SharedKey, { state_dir }: KeyConfig): string | null {
  if (configured !== undefined) return configured;
  try {
    return readOwnFileSync(join(state_dir, file)).trim();
  } catch {
    return null;
  }
}

/** An allowlist whose key is lost must stay a problem that stops the start: a new key would match nothing. */
function mayCreate(file: string, { detection }: KeyConfig): boolean {
  return file !== 'fingerprint-key' || detection.allowlist.length === 0;
}

function createKey(stateDir: string, file: string): void {
  if (file === 'approval-link-key') readLinkKey(stateDir);
  else writePrivateFile(join(stateDir, file), randomBytes(32).toString('base64url'), 'keep');
}

/** The keys have 32 random bytes or at least 32 characters of an operator, so that a digest reveals none. */
function createDigest(name: string, key: string): string {
  return createHmac('sha256', key).update(`cluster key digest ${name} 1`).digest('hex');
}

function parseDigests({ key_digests }: Pick<ListedNode, 'key_digests'>): KeyDigests {
  try {
    return JSON.parse(key_digests) as KeyDigests;
  } catch {
    return {};
  }
}

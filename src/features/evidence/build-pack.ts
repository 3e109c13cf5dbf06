import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EARLIER_NAME } from '../../core/names.ts';
import { countJournalBytes, listWriters } from '../../runtime/audit/files.ts';
import {
  loadPublicKeys,
  type PublicKeyRecord,
  type SigningKey,
  signMessage,
  type TrustedKeys,
  trustKeys,
} from '../../runtime/audit/keys.ts';
import { type ArchiveEntry, packArchive } from './archive.ts';
import { buildTooLarge, type CopiedChain, copyChain } from './chain-copy.ts';
import { type ChainPlan, type ChainSource, planChain } from './chain-runs.ts';
import { EvidenceFailure } from './failure.ts';
import { PACK_README } from './readme.ts';
import type { EvidenceProgress, EvidenceWindow, PackManifest, PackWriter } from './types.ts';
import { VERIFIER_FILE } from './verify-pack.ts';

/** A file of the compliance report. */
export interface ReportFile {
  readonly path: 'report/report.json' | 'report/report.html';
  readonly content: string;
}

export interface PackOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly journal_dir: string;
  readonly keys_dir: string;
  /** The folder of saved policies. */
  readonly policies_dir: string;
  /** An empty folder for the files of the pack; the caller removes it. */
  readonly work_dir: string;
  readonly signing_key: SigningKey;
  readonly service_version: string;
  readonly window: EvidenceWindow;
  /** The only tenant whose events have their content; `null` for all. */
  readonly tenant_id: string | null;
  readonly framework: string | null;
  readonly report: readonly ReportFile[];
  /** The most bytes of all files together, uncompressed. */
  readonly bytes_max?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: EvidenceProgress) => void;
}

/** A pack that is ready to be written. */
export interface BuiltPack {
  readonly manifest: PackManifest;
  /** Returns the bytes of the archive. Equal input gives equal bytes. */
  readonly archive: () => AsyncGenerator<Buffer>;
}

const BYTES_MAX = 4_294_967_296;
const POLICY_BYTES_MAX = 67_108_864;

/**
 * Builds an evidence pack: the records of a window with the chains that prove them, policies, the report, public keys, a
 * verifier, and a manifest that the audit key signs.
 *
 * @throws EvidenceFailure
 */
export async function buildPack(options: PackOptions): Promise<BuiltPack> {
  const records = await loadPublicKeys(options.keys_dir);
  const source = await openSource(options, records);
  const plans = await planChains(source);
  const budget = { left: options.bytes_max ?? BYTES_MAX };
  const chains = await copyChains(plans, source, options, budget);
  const hashes = [...new Set(chains.flatMap(({ copied }) => [...(copied?.policy_hashes ?? [])]))].sort();
  const policies = await readPolicies(hashes, options, budget);
  const keyIds = new Set([options.signing_key.key_id, ...plans.flatMap(({ key_ids }) => [...key_ids])]);
  const entries = [
    ...listKeyEntries(records, keyIds),
    ...chains.flatMap(({ entries: own }) => own),
    ...policies.entries,
    ...options.report.map(({ path, content }) => buildTextEntry(path, content)),
    buildTextEntry('README.txt', PACK_README),
    buildContentEntry('verify.mjs', await readFile(VERIFIER_FILE)),
  ];
  const manifest = await buildManifest(options, chains, policies, entries);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const signature = signMessage(`${EARLIER_NAME} evidence pack 1\n${text}`, options.signing_key);
  const all = [
    buildTextEntry('manifest.json', text),
    buildTextEntry('manifest.sig', `${signature}\n`),
    ...entries,
  ];
  return { manifest, archive: () => packArchive(all) };
}

interface Source extends ChainSource {
  readonly trusted: TrustedKeys;
}

async function openSource(options: PackOptions, records: readonly PublicKeyRecord[]): Promise<Source> {
  const { journal_dir, window, signal, onProgress } = options;
  if (!(window.since_ms <= window.until_ms))
    throw new EvidenceFailure('window_invalid', 'The window must begin before it ends.');
  const totalBytes = onProgress === undefined ? 0 : await countJournalBytes(journal_dir);
  let doneBytes = 0;
  return {
    ...{ journal_dir, window, trusted: trustKeys(records) },
    ...(signal !== undefined && { signal }),
    onRead: (bytes) => {
      doneBytes = Math.min(totalBytes, doneBytes + bytes);
      onProgress?.({ done_bytes: doneBytes, total_bytes: totalBytes });
    },
  };
}

/** Plans the chain of every writer, and of those that begin meanwhile, because checkpoints may name them. */
async function planChains(source: ChainSource): Promise<ChainPlan[]> {
  const plans = new Map<string, ChainPlan>();
  for (let grew = true; grew; ) {
    const writers = (await listWriters(source.journal_dir)).filter((writer) => !plans.has(writer));
    grew = writers.length > 0;
    for (const writer of writers) plans.set(writer, await planChain(writer, source));
  }
  if (plans.size === 0)
    throw new EvidenceFailure('journal_missing', `There is no journal in \`${source.journal_dir}\`.`);
  return [...plans.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1));
}

interface PackedChain {
  readonly plan: ChainPlan;
  readonly copied: CopiedChain | null;
  readonly entries: readonly (ArchiveEntry & { readonly sha256?: string })[];
}

async function copyChains(
  plans: readonly ChainPlan[],
  source: ChainSource,
  { work_dir, tenant_id }: PackOptions,
  budget: { left: number },
): Promise<PackedChain[]> {
  const chains: PackedChain[] = [];
  for (const plan of plans) {
    const { writer, retired } = plan;
    const own = retired === null ? [] : [buildTextEntry(retiredPath(writer), `${JSON.stringify(retired)}\n`)];
    if (plan.runs.length === 0) {
      chains.push({ plan, copied: null, entries: own });
      continue;
    }
    const target = join(work_dir, `${writer}.jsonl`);
    const copied = await copyChain(plan, { ...source, tenant_id, target, bytes_max: budget.left });
    budget.left -= copied.bytes;
    const { bytes, sha256 } = copied;
    const chain = { path: chainPath(writer), bytes, sha256, content: { file: target } };
    chains.push({ plan, copied, entries: [...own, chain] });
  }
  return chains;
}

const chainPath = (writer: string): string => `journal/${writer}.jsonl`;
const retiredPath = (writer: string): string => `journal/${writer}.retired.json`;

interface PackedPolicies extends Pick<PackManifest, 'policies'> {
  readonly entries: readonly ArchiveEntry[];
}

/** Reads the saved policies. A pack of one tenant has none, because a policy holds the rules of all tenants. */
async function readPolicies(
  hashes: readonly string[],
  { policies_dir, tenant_id }: PackOptions,
  budget: { left: number },
): Promise<PackedPolicies> {
  const included: string[] = [];
  const leftOut: string[] = [];
  const entries: ArchiveEntry[] = [];
  for (const hash of hashes) {
    const content = tenant_id === null ? await readSavedPolicy(policies_dir, hash) : null;
    if (content === null) {
      leftOut.push(hash);
      continue;
    }
    budget.left -= content.length;
    if (budget.left < 0) throw buildTooLarge();
    included.push(hash);
    entries.push(buildContentEntry(`policies/${hash.slice('sha256:'.length)}.json`, content));
  }
  return { policies: { included, left_out: leftOut }, entries };
}

/** Returns the file of a policy; `null` if it is gone, damaged or too large. */
async function readSavedPolicy(policiesDir: string, hash: string): Promise<Buffer | null> {
  const { readPolicy } = await import('../../runtime/policies/saved-policy.ts');
  try {
    await readPolicy(policiesDir, hash);
    const content = await readFile(join(policiesDir, `${hash.slice('sha256:'.length)}.json`));
    return content.length <= POLICY_BYTES_MAX ? content : null;
  } catch {
    return null;
  }
}

/** Returns the keys that signed something in the pack, and those that endorsed them. */
function listKeyEntries(records: readonly PublicKeyRecord[], keyIds: ReadonlySet<string>): ArchiveEntry[] {
  const needed = new Set(keyIds);
  for (let grew = true; grew; ) {
    const endorsers = records.flatMap(({ key_id, endorsed_by }) =>
      needed.has(key_id) && endorsed_by !== null && !needed.has(endorsed_by) ? [endorsed_by] : [],
    );
    grew = endorsers.length > 0;
    for (const keyId of endorsers) needed.add(keyId);
  }
  const found = records.filter(({ key_id }) => needed.has(key_id));
  if (!found.some(({ key_id }) => keyIds.has(key_id)))
    throw new EvidenceFailure('key_missing', 'The folder `keys` has no public key of the audit log.');
  return found.map((record) =>
    buildTextEntry(`keys/${record.key_id}.json`, `${JSON.stringify(record, null, 2)}\n`),
  );
}

async function buildManifest(
  options: PackOptions,
  chains: readonly PackedChain[],
  { policies }: PackedPolicies,
  entries: readonly (ArchiveEntry & { readonly sha256?: string })[],
): Promise<PackManifest> {
  const { window, tenant_id, framework, service_version, signing_key } = options;
  const times = { since: new Date(window.since_ms), until: new Date(window.until_ms) };
  return {
    format: 1,
    service_version,
    window: { since: times.since.toISOString(), until: times.until.toISOString() },
    tenant_id,
    framework,
    key_id: signing_key.key_id,
    events: chains.reduce((sum, { copied }) => sum + (copied?.events ?? 0), 0),
    writers: chains.map(describeWriter),
    policies,
    files: entries.map(({ path, bytes, content, sha256 }) => ({
      ...{ path, bytes },
      sha256:
        sha256 ??
        createHash('sha256')
          .update(content as Buffer)
          .digest('hex'),
    })),
  };
}

function describeWriter({ plan, copied }: PackedChain): PackWriter {
  const { writer, runs, reaches_end, began_at, retired } = plan;
  const file = copied === null ? null : chainPath(writer);
  const own = { writer, file, retired: retired === null ? null : retiredPath(writer) };
  return { ...own, runs, reaches_end, began_at, omitted: copied?.omitted ?? 0 };
}

function buildTextEntry(path: string, text: string): ArchiveEntry {
  return buildContentEntry(path, Buffer.from(text));
}

function buildContentEntry(path: string, content: Buffer): ArchiveEntry {
  return { path, bytes: content.length, content };
}

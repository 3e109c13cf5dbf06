#!/usr/bin/env node
/**
 * Verifies an evidence pack of customshouse. Needs Node 20 or later, and no packages.
 *
 *     node verify.mjs PACK.tar.gz [--public-key FILE] [--json]
 *
 * PACK is the archive, or the folder that it was extracted to (default: the folder of this file). FILE is a public key
 * that you received on another way: a `keys/<id>.json` of the service, or PEM. Without it, the pack is checked against the
 * key that it contains, which shows that nothing was changed since, but not who made it.
 *
 * Exit code: 0 intact, 1 broken, 2 cannot be read.
 *
 * The format is described in `docs/reference/evidence-pack.md`. A copy of this file is in every pack; take one from a
 * source that you trust.
 */
import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto';
import { constants, createReadStream, realpathSync } from 'node:fs';
import { lstat, open, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';

/** Limits for hostile packs, in bytes and counts. `ratio` is uncompressed to compressed bytes beyond `ratio_from`. */
export const LIMITS = {
  total_bytes: 34_359_738_368,
  ratio: 250,
  ratio_from: 67_108_864,
  files: 8_192,
  manifest_bytes: 8_388_608,
  small_bytes: 65_536,
  policy_bytes: 67_108_864,
  line_bytes: 1_048_576,
  heads: 1_000_000,
};

const PATH =
  /^(?:keys\/[0-9a-f]{32}\.json|journal\/[a-z0-9][a-z0-9._-]{0,63}\.(?:jsonl|retired\.json)|policies\/[0-9a-f]{64}\.json|report\/report\.(?:json|html)|README\.txt|verify\.mjs)$/;
const HASH = /^[0-9a-f]{64}$/;
const BLOCK = 512;
const ZEROS = '0'.repeat(64);

/** The place and the reason of the first fault. */
class Broken extends Error {
  constructor(file, reason, line = null, event_id = null) {
    super(reason);
    this.place = { file, line, event_id, reason };
  }
}

/**
 * Verifies a pack. `public_keys` are the records of keys that the caller trusts, from `readPublicKey`; `null` for the
 * pack's own. Resolves to a report, also for a broken pack. Rejects only if the pack cannot be read at all.
 */
export async function verifyPack(path, { public_key = null, limits = {} } = {}) {
  const bound = { ...LIMITS, ...limits };
  const is_folder = (await stat(path)).isDirectory();
  const source = is_folder ? openFolder(path, bound) : await openArchive(path, bound);
  const state = startState(public_key, bound);
  let broken = null;
  try {
    await readPack(source, state);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    broken = error.place;
  } finally {
    await source.close();
  }
  return buildReport(state, broken);
}

/** Reads a public key: the JSON record of the service, or PEM. Returns `{key_id, fingerprint, key}`. */
export function readPublicKey(text) {
  const trimmed = text.trim();
  const key = trimmed.startsWith('{')
    ? createPublicKey({ key: Buffer.from(String(JSON.parse(trimmed).public_key), 'base64'), type: 'spki', format: 'der' })
    : createPublicKey(trimmed);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key must be an Ed25519 public key.');
  const fingerprint = createHash('sha256').update(key.export({ type: 'spki', format: 'der' })).digest('hex');
  return { key_id: fingerprint.slice(0, 32), fingerprint: `sha256:${fingerprint}`, key };
}

function startState(public_key, bound) {
  return {
    bound,
    given: public_key,
    manifest: null,
    signature: '',
    manifest_bytes: null,
    records: [],
    trusted: null,
    signer: null,
    retired: new Map(),
    chains: new Map(),
    named: new Map(),
    named_count: 0,
    warnings: [],
    files: 0,
    bytes: 0,
  };
}

async function readPack(source, state) {
  const { bound } = state;
  state.manifest_bytes = await readSmall(source, 'manifest.json', bound.manifest_bytes);
  state.manifest = parseManifest(state.manifest_bytes, bound);
  state.signature = (await readSmall(source, 'manifest.sig', 256)).toString('latin1');
  for (const file of state.manifest.files) {
    if (state.trusted === null && !file.path.startsWith('keys/')) checkManifestSignature(state);
    await readListed(source, file, state);
  }
  if (state.trusted === null) checkManifestSignature(state);
  await source.end(state.manifest);
  checkChains(state);
}

async function readSmall(source, path, bytes_max) {
  const size = await source.next(path);
  if (size > bytes_max) throw new Broken(path, `It has ${size} bytes, and may have ${bytes_max}.`);
  const parts = [];
  for await (const part of source.content(size)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** Reads one file that the manifest lists, and checks its size, its hash and what it means. */
async function readListed(source, { path, bytes, sha256 }, state) {
  const size = await source.next(path);
  const chain = path.endsWith('.jsonl') ? openChain(path, state) : null;
  const keeps = chain === null && bytesKept(path, state.bound) > 0;
  if (keeps && size > bytesKept(path, state.bound))
    throw new Broken(path, `It has ${size} bytes, and may have ${bytesKept(path, state.bound)}.`);
  const digest = createHash('sha256');
  const parts = [];
  for await (const part of source.content(size)) {
    digest.update(part);
    if (chain !== null) chain.add(part);
    else if (keeps) parts.push(Buffer.from(part));
  }
  chain?.end();
  if (size !== bytes || digest.digest('hex') !== sha256)
    throw new Broken(path, 'Its content is not that which the manifest was signed for.');
  state.files += 1;
  state.bytes += size;
  if (keeps) readKept(path, Buffer.concat(parts), state);
}

function bytesKept(path, bound) {
  if (path.startsWith('keys/') || path.endsWith('.retired.json')) return bound.small_bytes;
  return path.startsWith('policies/') ? bound.policy_bytes : 0;
}

function readKept(path, content, state) {
  if (path.startsWith('keys/')) state.records.push(readKeyRecord(path, content));
  else if (path.endsWith('.retired.json')) readRetired(path, content, state);
  else if (hashPolicy(parseJson(path, content)) !== `sha256:${path.slice(9, 73)}`)
    throw new Broken(path, 'The hash of the policy is not that of its name.');
}

// ---------------------------------------------------------------- manifest

function parseJson(path, content) {
  try {
    const value = JSON.parse(content.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new Broken(path, 'It is not a JSON object.');
}

function parseManifest(content, bound) {
  const manifest = parseJson('manifest.json', content);
  const wrong = findManifestFault(manifest, bound);
  if (wrong !== null) throw new Broken('manifest.json', wrong);
  return manifest;
}

function findManifestFault(manifest, bound) {
  const { format, window, tenant_id, files, writers, events, key_id } = manifest;
  if (format !== 1) return 'Its format is not 1. Use the verifier of the version that made the pack.';
  if (!isTime(window?.since) || !isTime(window?.until)) return 'It has no window.';
  if (tenant_id !== null && typeof tenant_id !== 'string') return 'Its tenant is neither a name nor null.';
  if (!Number.isSafeInteger(events) || typeof key_id !== 'string') return 'It has no number of events or no key.';
  if (!Array.isArray(files) || files.length > bound.files) return `It lists no files, or more than ${bound.files}.`;
  if (!files.every(isFileEntry)) return 'It lists a file with a path, a size or a hash that is not allowed.';
  const paths = files.map(({ path }) => path);
  if (new Set(paths).size !== paths.length) return 'It lists a file twice.';
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > bound.total_bytes) return `Its files have ${total} bytes, and may have ${bound.total_bytes}.`;
  if (!Array.isArray(writers) || !writers.every((each) => isWriterEntry(each, paths))) return 'It lists a writer that is not valid.';
  const chains = writers.map(({ file }) => file).filter((file) => file !== null);
  const is_listed = paths.filter((path) => path.endsWith('.jsonl')).every((path) => chains.includes(path));
  return is_listed && new Set(writers.map(({ writer }) => writer)).size === writers.length
    ? null
    : 'Its writers do not fit its files.';
}

function isTime(value) {
  return typeof value === 'string' && value.length <= 32 && !Number.isNaN(Date.parse(value));
}

function isFileEntry(entry) {
  return (
    typeof entry?.path === 'string' &&
    PATH.test(entry.path) &&
    Number.isSafeInteger(entry.bytes) &&
    entry.bytes >= 0 &&
    HASH.test(entry.sha256)
  );
}

function isWriterEntry(entry, paths) {
  const { writer, file, retired, runs, reaches_end } = entry ?? {};
  if (typeof writer !== 'string' || typeof reaches_end !== 'boolean' || !Array.isArray(runs)) return false;
  if (file !== null && (file !== `journal/${writer}.jsonl` || !paths.includes(file))) return false;
  if (retired !== null && (retired !== `journal/${writer}.retired.json` || !paths.includes(retired))) return false;
  if ((file === null) !== (runs.length === 0)) return false;
  let last = 0;
  return runs.every(({ first_seq, last_seq }) => {
    const is_next = Number.isSafeInteger(first_seq) && Number.isSafeInteger(last_seq) && first_seq > last;
    last = last_seq;
    return is_next && last_seq >= first_seq;
  });
}

// ---------------------------------------------------------------- keys

function readKeyRecord(path, content) {
  const record = parseJson(path, content);
  try {
    const read = readPublicKey(JSON.stringify({ public_key: record.public_key }));
    if (read.key_id === record.key_id && path === `keys/${record.key_id}.json`) return { ...record, ...read };
  } catch {
    // Reported below.
  }
  throw new Broken(path, 'It is not a public key of its name.');
}

/** Follows endorsements from the trusted roots: a key that a trusted key endorsed is trusted too. */
function trustKeys(state) {
  const { given, records } = state;
  const roots = given === null ? records.filter(({ endorsed_by }) => endorsed_by === null) : [given];
  const trusted = new Map(roots.map((root) => [root.key_id, root]));
  for (let grew = true; grew; ) {
    grew = false;
    for (const record of records) {
      const endorser = trusted.get(record.endorsed_by);
      if (trusted.has(record.key_id) || endorser === undefined) continue;
      const message = `agent-safety journal key 1\n${record.key_id}\n${record.public_key}\n${record.created_at}\n${record.endorsed_by}`;
      if (!isSigned(message, record.endorsement, endorser.key)) continue;
      trusted.set(record.key_id, record);
      grew = true;
    }
  }
  if (given === null && roots.length > 1)
    state.warnings.push(`${roots.length} keys of the pack vouch for themselves.`);
  return trusted;
}

function checkManifestSignature(state) {
  const { manifest, signature, manifest_bytes, given } = state;
  state.trusted = trustKeys(state);
  state.signer = state.trusted.get(manifest.key_id) ?? null;
  if (state.signer === null)
    throw new Broken(
      'manifest.json',
      given === null
        ? 'No key of the pack that is trusted made its signature.'
        : `It is not signed by the given key ${given.key_id}, nor by a key that this key endorsed.`,
    );
  if (!signature.endsWith('\n')) throw new Broken('manifest.sig', 'It is not a signature.');
  const message = Buffer.concat([Buffer.from('agent-safety evidence pack 1\n'), manifest_bytes]);
  if (!isSigned(message, signature.slice(0, -1), state.signer.key))
    throw new Broken('manifest.json', 'The signature in `manifest.sig` does not fit it.');
}

/** Accepts only the one way to write a signature in base64. */
function isSigned(message, signature, key) {
  if (typeof signature !== 'string') return false;
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.length !== 64 || bytes.toString('base64') !== signature) return false;
  return verifySignature(null, Buffer.from(message), key, bytes);
}

// ---------------------------------------------------------------- chains

const HEADER =
  /^(\{"seq":(\d{1,16}),"writer":"([a-z0-9._-]{1,64})","kind":"(segment|event|action|cut|checkpoint)","prev_hash":"([0-9a-f]{64})"(?:,"body_hash":"([0-9a-f]{64})")?)(?:,"\4":)?/;
const TAIL = /^,"record_hash":"([0-9a-f]{64})"\}$/;
const TAIL_BYTES = 82;

function readRetired(path, content, state) {
  const retired = parseJson(path, content);
  const { writer, last_seq, head_hash, timestamp, key_id, signature } = retired;
  const message = `agent-safety journal retired 1\n${writer}\n${last_seq}\n${head_hash}\n${timestamp}`;
  const key = state.trusted.get(key_id)?.key;
  if (path !== `journal/${writer}.retired.json` || key === undefined || !isSigned(message, signature, key))
    throw new Broken(path, 'The record of deleted files is not signed by a trusted key.');
  state.retired.set(writer, retired);
}

/** Opens the check of one writer's lines. */
function openChain(file, state) {
  const entry = state.manifest.writers.find((each) => each.file === file);
  const chain = {
    file,
    entry,
    retired: state.retired.get(entry.writer) ?? null,
    line: 0,
    run: -1,
    head: null,
    last_kind: null,
    checkpoint_hashes: new Map(),
    run_times: [],
    records: 0,
    events: 0,
    in_window: 0,
    omitted: 0,
    attested_links: 0,
    checkpoints: 0,
    unsigned_tail: 0,
    retention_events: [],
  };
  state.chains.set(entry.writer, chain);
  let kept = Buffer.alloc(0);
  return {
    add: (part) => {
      let bytes = kept.length === 0 ? part : Buffer.concat([kept, part]);
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
        checkLine(chain, bytes.subarray(0, end), state);
        bytes = bytes.subarray(end + 1);
      }
      if (bytes.length > state.bound.line_bytes) throw brokenLine(chain, 1, 'it is too long', bytes);
      kept = Buffer.from(bytes);
    },
    end: () => {
      if (kept.length > 0) throw brokenLine(chain, 1, 'the file ends in the middle of it', kept);
      endRun(chain);
      if (chain.run !== entry.runs.length - 1)
        throw new Broken(file, 'Its end is missing: the manifest names more records.');
    },
  };
}

function brokenLine(chain, ahead, reason, bytes) {
  const event_id = /"event_id":"(evt_[0-9a-f]{1,64})"/.exec(bytes.toString('latin1'))?.[1] ?? null;
  return new Broken(chain.file, `The record is not as it was written: ${reason}.`, chain.line + ahead, event_id);
}

function checkLine(chain, bytes, state) {
  const fault = findLineFault(chain, bytes, state);
  if (fault !== null) throw brokenLine(chain, 1, fault, bytes);
  chain.line += 1;
}

/** Checks a line and adds it to the chain. Returns the reason why it is not the next line; `null` if it is. */
function findLineFault(chain, bytes, state) {
  const tail = TAIL.exec(bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES)));
  const header = HEADER.exec(bytes.toString('latin1', 0, 400));
  if (tail === null || header === null) return 'it is not a journal record';
  const [whole, head, digits, writer, kind, prev_hash, body_hash] = header;
  const is_omitted = whole === head;
  const seq = Number(digits);
  const line = { seq, kind, prev_hash, record_hash: tail[1], is_omitted, timestamp: null, is_linked: true };
  if (writer !== chain.entry.writer) return `it belongs to the chain of \`${writer}\``;
  const fault = is_omitted
    ? checkOmitted(line, head, body_hash, bytes, state)
    : checkWhole(line, head, body_hash, whole.length, bytes);
  if (fault !== null) return fault;
  const body = is_omitted ? null : parseBody(bytes, kind, seq);
  if (body === undefined) return 'it is not a journal record';
  line.timestamp = body?.timestamp ?? null;
  return checkPlace(chain, line) ?? countLine(chain, line, body, state);
}

/** Returns the body of a line; `undefined` if the line is not the JSON that its header says. */
function parseBody(bytes, kind, seq) {
  try {
    const value = JSON.parse(bytes.toString('utf8'));
    const body = value[kind];
    return value.seq === seq && value.kind === kind && typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

function checkWhole(line, head, body_hash, body_start, bytes) {
  const end = bytes.length - TAIL_BYTES;
  const hashed = body_hash === undefined ? bytes.subarray(0, end) : Buffer.from(head);
  const is_body = body_hash === undefined || sha256(bytes.subarray(body_start, end)) === body_hash;
  return is_body && sha256(hashed) === line.record_hash ? null : 'its hash does not fit its content';
}

function checkOmitted(line, head, body_hash, bytes, state) {
  const may_lack = line.kind === 'action' ? body_hash !== undefined : line.kind === 'event' && state.manifest.tenant_id !== null;
  if (!may_lack) return 'its content was left out';
  if (bytes.length !== head.length + TAIL_BYTES) return 'it is not a journal record';
  if (body_hash === undefined) {
    line.is_linked = false;
    return null;
  }
  return sha256(Buffer.from(head)) === line.record_hash ? null : 'its hash does not fit its content';
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Checks that a line follows the line before it, or begins the next run. */
function checkPlace(chain, line) {
  const { head, entry } = chain;
  const run = entry.runs[chain.run];
  if (head !== null && run !== undefined && line.seq <= run.last_seq) {
    if (line.seq !== head.seq + 1) return `its number is ${line.seq}, and ${head.seq + 1} is expected`;
    return line.prev_hash === head.record_hash ? null : 'it does not follow the record before it';
  }
  const next = entry.runs[chain.run + 1];
  if (next === undefined || line.seq !== next.first_seq) return `its number is ${line.seq}, which is not expected here`;
  endRun(chain);
  chain.run += 1;
  chain.run_times.push({ start: startOfRun(chain, line), end: null });
  if (chain.run_times.at(-1).start === undefined) return 'a run of records begins in the wrong place';
  return null;
}

/** The time from which a run has all records: `-Infinity` at the beginning of the chain; `undefined` for a wrong place. */
function startOfRun({ retired }, { seq, kind, prev_hash, timestamp }) {
  if (seq === 1) return prev_hash === ZEROS ? Number.NEGATIVE_INFINITY : undefined;
  if (retired !== null && seq === retired.last_seq + 1)
    return prev_hash === retired.head_hash ? Number.NEGATIVE_INFINITY : undefined;
  return kind === 'checkpoint' || kind === 'segment' ? Date.parse(timestamp) : undefined;
}

function endRun(chain) {
  if (chain.run < 0) return;
  const run = chain.entry.runs[chain.run];
  const is_last = chain.run === chain.entry.runs.length - 1;
  if (chain.head.seq !== run.last_seq)
    throw new Broken(chain.file, `Records are missing after record ${chain.head.seq}.`, chain.line);
  if (chain.last_kind !== 'checkpoint' && !(is_last && chain.entry.reaches_end))
    throw new Broken(chain.file, 'A run of records does not end in a signed checkpoint.', chain.line);
  if (is_last && chain.entry.reaches_end) chain.run_times.at(-1).end = Number.POSITIVE_INFINITY;
}

function countLine(chain, line, body, state) {
  const { kind, is_omitted } = line;
  if (kind === 'checkpoint') {
    const fault = checkCheckpoint(chain, line, body, state);
    if (fault !== null) return fault;
  }
  if (!line.is_linked) chain.attested_links += 1;
  chain.head = { seq: line.seq, record_hash: line.record_hash };
  chain.last_kind = kind;
  chain.records += 1;
  chain.unsigned_tail = kind === 'checkpoint' ? 0 : chain.unsigned_tail + 1;
  if (kind !== 'event') return null;
  if (!is_omitted) return countEvent(chain, body, state.manifest);
  chain.omitted += 1;
  return null;
}

function countEvent(chain, event, { tenant_id, window }) {
  if (tenant_id !== null && event.tenant_id !== tenant_id) return 'it belongs to another tenant';
  chain.events += 1;
  const ms = Date.parse(event.timestamp);
  if (ms >= Date.parse(window.since) && ms < Date.parse(window.until)) chain.in_window += 1;
  if (event.policy_name === 'service.audit_retention' && event.metadata?.writer !== undefined)
    chain.retention_events.push({ writer: event.metadata.writer, last_seq: event.metadata.last_seq, event_id: event.event_id });
  return null;
}

function checkCheckpoint(chain, { seq, prev_hash, record_hash }, body, state) {
  const { timestamp, key_id, signature, heads } = body;
  const key = state.trusted.get(key_id)?.key;
  if (heads !== undefined && !(Array.isArray(heads) && heads.every(isHead))) return 'its heads are not valid';
  const version = heads === undefined ? 1 : 2;
  const own = `agent-safety journal checkpoint ${version}\n${chain.entry.writer}\n${seq - 1}\n${prev_hash}\n${timestamp}`;
  const message = own + (heads ?? []).map((each) => `\n${each.writer} ${each.seq} ${each.record_hash}`).join('');
  if (key === undefined || !isSigned(message, signature, key)) return 'no trusted key made its signature';
  chain.checkpoints += 1;
  chain.checkpoint_hashes.set(seq, record_hash);
  chain.run_times.at(-1).end = Date.parse(timestamp);
  for (const head of heads ?? []) nameHead(state, head, chain.entry.writer);
  return null;
}

function isHead(head) {
  return typeof head?.writer === 'string' && Number.isSafeInteger(head.seq) && HASH.test(head.record_hash);
}

function nameHead(state, { writer, seq, record_hash }, by) {
  const named = state.named.get(writer) ?? new Map();
  state.named.set(writer, named);
  if (named.has(seq) || state.named_count >= state.bound.heads) return;
  state.named_count += 1;
  named.set(seq, { record_hash, by });
}

/** Checks all chains together: none is missing, all have the checkpoints that others named, and the window is whole. */
function checkChains(state) {
  const { manifest, chains, named } = state;
  for (const [writer, heads] of named) {
    const entry = manifest.writers.find((each) => each.writer === writer);
    if (entry === undefined)
      throw new Broken('manifest.json', `A checkpoint names the writer \`${writer}\`, and the pack lacks it.`);
    for (const [seq, { record_hash, by }] of heads) {
      const is_inside = entry.runs.some(({ first_seq, last_seq }) => first_seq <= seq && seq <= last_seq);
      if (is_inside && chains.get(writer)?.checkpoint_hashes.get(seq) !== record_hash)
        throw new Broken(entry.file, `A checkpoint of \`${by}\` names record ${seq} with another hash: the chain was rewritten.`);
    }
  }
  const since = Date.parse(manifest.window.since);
  const until = Date.parse(manifest.window.until);
  for (const entry of manifest.writers) {
    const times = chains.get(entry.writer)?.run_times ?? [];
    const is_whole = entry.file === null ? Date.parse(entry.began_at) > until : times.some(({ start, end }) => start <= since && end >= until);
    if (!is_whole) throw new Broken(entry.file ?? 'manifest.json', `The records of \`${entry.writer}\` do not cover the window.`);
  }
  const events = sum(chains, 'in_window');
  if (events !== manifest.events)
    throw new Broken('manifest.json', `It names ${manifest.events} events in the window, and ${events} are there.`);
}

function sum(chains, field) {
  return [...chains.values()].reduce((total, chain) => total + chain[field], 0);
}

// ---------------------------------------------------------------- policies

/** The hash of a policy: SHA-256 over its canonical JSON (RFC 8785) without `hash` and the paths of the installation. */
function hashPolicy({ hash: _hash, ...content }) {
  if (content.detection?.guarded_paths !== undefined) {
    const { guarded_paths: _paths, ...detection } = content.detection;
    content.detection = detection;
  }
  return `sha256:${sha256(Buffer.from(canonical(content)))}`;
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(',')}}`;
}

// ---------------------------------------------------------------- report

function buildReport(state, broken) {
  const { manifest, chains, signer, given, retired, warnings } = state;
  const writers = [...chains.values()].map((chain) => ({
    writer: chain.entry.writer,
    records: chain.records,
    events: chain.events,
    omitted: chain.omitted,
    checkpoints: chain.checkpoints,
    unsigned_tail: chain.unsigned_tail,
    first_seq: chain.entry.runs[0].first_seq,
    last_seq: chain.head?.seq ?? 0,
    retired_seq: chain.retired?.last_seq ?? 0,
  }));
  return {
    intact: broken === null,
    window: manifest?.window ?? null,
    tenant_id: manifest?.tenant_id ?? null,
    framework: manifest?.framework ?? null,
    events: sum(chains, 'in_window'),
    records: sum(chains, 'records'),
    omitted: sum(chains, 'omitted'),
    attested_links: sum(chains, 'attested_links'),
    checkpoints: sum(chains, 'checkpoints'),
    unsigned_tail: sum(chains, 'unsigned_tail'),
    files: state.files,
    bytes: state.bytes,
    key: signer === null ? null : { key_id: signer.key_id, fingerprint: signer.fingerprint, source: given === null ? 'pack' : 'given' },
    writers,
    broken,
    warnings: [...warnings, ...listWarnings(chains, retired, given)],
  };
}

function listWarnings(chains, retired, given) {
  const list = [];
  if (given === null) list.push('The key is the pack’s own. Compare its fingerprint with one from another source, or use --public-key.');
  const evidence = [...chains.values()].flatMap(({ retention_events }) => retention_events);
  for (const [writer, { last_seq, timestamp }] of retired) {
    const event = evidence.find((each) => each.writer === writer && each.last_seq === last_seq);
    const by = event === undefined ? '' : `, as the event ${event.event_id} records`;
    list.push(`${writer}: the records up to ${last_seq} were deleted by age at ${timestamp}${by}.`);
  }
  const attested = sum(chains, 'attested_links');
  if (attested > 0) list.push(`${attested} left-out records of an earlier version are linked by the signature of the pack only.`);
  const unsigned = sum(chains, 'unsigned_tail');
  if (unsigned > 0) list.push(`${unsigned} records after the last checkpoints are signed by the pack only.`);
  return list;
}

// ---------------------------------------------------------------- sources

/** Opens an extracted pack. Files are read in the order of the manifest; links and other files are refused. */
function openFolder(folder, bound) {
  let file = null;
  const close = async () => {
    await file?.close();
    file = null;
  };
  return {
    next: async (path) => {
      await close();
      const parent = dirname(join(folder, path));
      if (!(await isKind(parent, 'isDirectory')) || !(await isKind(join(folder, path), 'isFile')))
        throw new Broken(path, 'It is missing, or is not a plain file.');
      file = await open(join(folder, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
      return (await file.stat()).size;
    },
    content: async function* (size) {
      if (size > bound.total_bytes) throw new Broken('', `A file has more than ${bound.total_bytes} bytes.`);
      let left = size;
      const buffer = Buffer.alloc(262_144);
      while (left > 0) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length));
        if (bytesRead === 0) return;
        left -= bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    end: async ({ files }) => {
      const listed = new Set(['manifest.json', 'manifest.sig', ...files.map(({ path }) => path)]);
      for (const path of await listFolder(folder, '', bound))
        if (!listed.has(path)) throw new Broken(path, 'The manifest does not list it.');
    },
    close,
  };
}

async function isKind(path, kind) {
  return lstat(path).then(
    (stats) => stats[kind](),
    () => false,
  );
}

async function listFolder(folder, below, bound, found = []) {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    if (found.length > bound.files) throw new Broken('manifest.json', `The folder has more than ${bound.files} files.`);
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && path.split('/').length < 4) await listFolder(folder, path, bound, found);
    else found.push(path);
  }
  return found;
}

/** Opens an archive. Entries must be in the order of the manifest, and headers as the service writes them. */
async function openArchive(path, bound) {
  const { size: packed_bytes } = await stat(path);
  const source = createReadStream(path);
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  const reader = openReader(source.pipe(gunzip), packed_bytes, bound);
  let left = 0;
  return {
    next: async (name) => {
      const header = await reader.exactly(BLOCK, name);
      const size = parseSize(header);
      const is_ours = size !== null && header.equals(encodeHeader(name, size));
      if (!is_ours) throw new Broken(name, describeHeader(header, name));
      left = size;
      return size;
    },
    content: async function* (size) {
      const name = 'archive';
      while (left > 0) {
        const part = await reader.some(left, name);
        left -= part.length;
        yield part;
      }
      const padding = await reader.exactly((BLOCK - (size % BLOCK)) % BLOCK, name);
      if (padding.some((byte) => byte !== 0)) throw new Broken('archive', 'There are bytes between two files.');
    },
    end: async () => {
      const end = await reader.exactly(2 * BLOCK, 'archive');
      if (end.some((byte) => byte !== 0)) throw new Broken(nameOf(end) || 'archive', 'The manifest does not list it.');
      if (await reader.hasMore()) throw new Broken('archive', 'There are bytes after its end.');
    },
    close: async () => {
      source.destroy();
      gunzip.destroy();
    },
  };
}

/** Reads a stream by numbers of bytes, within the limits of unpacking. */
function openReader(stream, packed_bytes, bound) {
  const chunks = stream[Symbol.asyncIterator]();
  let kept = Buffer.alloc(0);
  let total = 0;
  const fill = async () => {
    const { value, done } = await chunks.next().catch(() => {
      throw new Broken('archive', 'It is not a whole gzip file.');
    });
    if (done) return false;
    total += value.length;
    if (total > bound.total_bytes || (total > bound.ratio_from && total > packed_bytes * bound.ratio))
      throw new Broken('archive', `It unpacks to more bytes than are allowed (${bound.total_bytes}, or ${bound.ratio} times its size).`);
    kept = kept.length === 0 ? value : Buffer.concat([kept, value]);
    return true;
  };
  const take = (count) => {
    const part = kept.subarray(0, count);
    kept = kept.subarray(part.length);
    return part;
  };
  return {
    exactly: async (count, name) => {
      while (kept.length < count) if (!(await fill())) throw new Broken(name, 'The archive ends before it.');
      return Buffer.from(take(count));
    },
    some: async (count, name) => {
      if (kept.length === 0 && !(await fill())) throw new Broken(name, 'It ends in the middle of a file.');
      return take(count);
    },
    hasMore: async () => kept.length > 0 || (await fill()),
  };
}

function parseSize(header) {
  const text = header.toString('latin1', 124, 136);
  return /^[0-7]{11}\0$/.test(text) ? Number.parseInt(text, 8) : null;
}

function nameOf(header) {
  const name = header.toString('latin1', 0, 100);
  return name.slice(0, Math.max(0, name.indexOf('\0'))).replace(/[^\x20-\x7e]/g, '?');
}

function describeHeader(header, name) {
  const found = nameOf(header);
  if (found !== name) return `\`${found}\` is in its place in the archive.`;
  return header[156] === 0x30 ? 'Its header in the archive is not as the service writes it.' : 'It is a link or a special file.';
}

/** The header of a file in the archive: ustar, mode 0644, no owner, no time. */
export function encodeHeader(name, size) {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'latin1');
  header.write('0000644\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write('        0', 148, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const checksum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

// ---------------------------------------------------------------- program

/** Formats a report as lines for people. Text from the pack has no control characters left. */
export function formatPackReport(report) {
  const { broken, window, key } = report;
  if (broken !== null) {
    const { file, line, event_id, reason } = broken;
    const place = `${file}${line === null ? '' : `, line ${line}`}${event_id === null ? '' : ` (${event_id})`}`;
    return [`broken  ${clean(place)}: ${clean(reason)}`];
  }
  const scope = report.tenant_id === null ? '' : `, tenant ${report.tenant_id}`;
  return [
    `intact  ${report.events} events from ${window.since} to ${window.until}${clean(scope)}`,
    `  records: ${report.records} in ${report.writers.length} chains, ${report.omitted} without content, ${report.checkpoints} signed checkpoints`,
    `  files: ${report.files}, ${report.bytes} bytes`,
    `  key: ${key.fingerprint} (${key.source === 'given' ? 'the given key, or one that it endorsed' : 'the pack’s own'})`,
    ...report.warnings.map((warning) => `  warning: ${clean(warning)}`),
  ];
}

function clean(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?');
}

async function main(words) {
  const wants_json = words.includes('--json');
  const at = words.indexOf('--public-key');
  const key_path = at < 0 ? null : words[at + 1];
  const rest = words.filter((word, index) => !word.startsWith('--') && !(at >= 0 && index === at + 1));
  if (words.includes('--help') || rest.length > 1 || key_path === undefined) {
    console.log('node verify.mjs [PACK.tar.gz or folder] [--public-key FILE] [--json]');
    return words.includes('--help') ? 0 : 2;
  }
  const path = rest[0] ?? dirname(fileURLToPath(import.meta.url));
  const public_key = key_path === null ? null : readPublicKey(await readFile(key_path, 'utf8'));
  const report = await verifyPack(path, { public_key });
  console.log(wants_json ? JSON.stringify(report, null, 2) : formatPackReport(report).join('\n'));
  return report.intact ? 0 : 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error) => {
      console.error(`error  ${error.message}`);
      process.exitCode = 2;
    },
  );
}

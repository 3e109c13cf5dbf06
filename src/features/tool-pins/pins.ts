import type { Kysely, Selectable } from 'kysely';
import { canonicalizeJson, hashJson } from '../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';
import type { StoreTables } from '../../platform/store/index.ts';

export type PinRow = Selectable<StoreTables['mcp_pins']>;
type Db = Kysely<StoreTables>;

/** The server and the callers that a tool list belongs to. */
export interface PinScope {
  readonly tenant_id: string;
  readonly server: string;
  readonly user_id: string;
}

/** A definition as a server lists it, and the problem that detectors found, as a sentence; `null` means none. */
export interface ListedTool {
  readonly definition: { readonly [name: string]: Json };
  /**
   * The definition as agents and operators may see it, with everything masked that a rule redacts. Only this is stored.
   * The default is the definition itself.
   */
  readonly redacted?: { readonly [name: string]: Json };
  readonly problem: string | null;
}

/** The status of a tool. Agents see and may call only a `pinned` tool. */
export interface ToolPinStatus {
  readonly tool: string;
  readonly status: 'pinned' | 'quarantined';
  readonly sha256: string;
  /** The reason for a quarantine; `null` for a pinned tool. */
  readonly reason: string | null;
  /** The definition that agents see of a `pinned` tool; absent if it is the listed definition. */
  readonly definition?: { readonly [name: string]: Json };
  /** True if this quarantine was not known before, so that it is reported. */
  readonly is_new_quarantine: boolean;
}

/** The names that the protocol allows: no look-alikes from other alphabets, no control characters. */
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const DEFINITION_CHARS_MAX = 65_536;
/** The tools that are stored for one list, so that a server cannot fill the store with new names. */
const ROWS_MAX = 2_000;

/**
 * Compares a complete tool list with its pins. A new tool is pinned if it has no findings and is not a renamed tool.
 * Every other difference is quarantined until an operator approves it.
 */
export async function compareWithPins(
  db: Db,
  scope: PinScope,
  list: readonly ListedTool[],
  nowMs: number,
): Promise<ToolPinStatus[]> {
  const rows = new Map((await readPinRows(db, scope)).map((row) => [row.tool, row]));
  const folded = Map.groupBy(list, ({ definition }) => readToolName(definition).toLowerCase());
  const present = new Set(list.map(({ definition }) => readToolName(definition)));
  const statuses: ToolPinStatus[] = [];
  let freeRows = ROWS_MAX - rows.size;
  for (const seen of list) {
    const name = readToolName(seen.definition);
    const twins = folded.get(name.toLowerCase())?.length ?? 0;
    const reason = findUnfitReason(name, seen.definition, twins, rows.has(name) || freeRows > 0);
    if (reason !== null) {
      statuses.push({
        tool: maskToolName(seen.definition),
        status: 'quarantined',
        sha256: '',
        reason,
        is_new_quarantine: true,
      });
      continue;
    }
    if (!rows.has(name)) freeRows -= 1;
    statuses.push(await updatePin(db, scope, name, seen, rows, present, nowMs));
  }
  return statuses;
}

/**
 * Returns the statuses of a list that was scanned before, from stored rows alone. Nothing is changed. Returns `null` if
 * the rows do not decide every tool; the list is scanned again then.
 */
export async function readPinStatuses(
  db: Db,
  scope: PinScope,
  definitions: readonly ListedTool['definition'][],
): Promise<Omit<ToolPinStatus, 'is_new_quarantine'>[] | null> {
  const rows = new Map((await readPinRows(db, scope)).map((row) => [row.tool, row]));
  const folded = Map.groupBy(definitions, (definition) => readToolName(definition).toLowerCase());
  const known: Omit<ToolPinStatus, 'is_new_quarantine'>[] = [];
  for (const definition of definitions) {
    const name = readToolName(definition);
    const twins = folded.get(name.toLowerCase())?.length ?? 0;
    const reason = findUnfitReason(name, definition, twins, true);
    const sha256 = hashJson(definition, hashText);
    const row = rows.get(name);
    if (reason !== null)
      known.push({ tool: maskToolName(definition), status: 'quarantined', sha256: '', reason });
    else if (row?.quarantined_sha256 === sha256)
      known.push({ tool: name, status: 'quarantined', sha256, reason: row.quarantined_reason });
    else if (row?.pinned_sha256 === sha256 && row.quarantined_sha256 === null)
      known.push({ tool: name, status: 'pinned', sha256, reason: null, ...findReplacement(definition, row) });
    else return null;
  }
  return known;
}

/** Returns the reason why a definition cannot be pinned at all, even with an approval. */
function findUnfitReason(
  name: string,
  definition: ListedTool['definition'],
  twins: number,
  hasFreeRow: boolean,
): string | null {
  if (!NAME.test(name)) return 'The protocol does not allow its name, which may imitate another name.';
  if (twins > 1) return 'Several tools of the list have this name, or one that differs in case alone.';
  if (canonicalizeJson(definition).length > DEFINITION_CHARS_MAX) return 'Its definition is too long.';
  return hasFreeRow ? null : 'The server has shown more tools than are remembered.';
}

async function updatePin(
  db: Db,
  scope: PinScope,
  tool: string,
  { definition, redacted = definition, problem }: ListedTool,
  rows: ReadonlyMap<string, PinRow>,
  present: ReadonlySet<string>,
  nowMs: number,
): Promise<ToolPinStatus> {
  const sha256 = hashJson(definition, hashText);
  const row = rows.get(tool);
  const base = { tool, sha256 };
  if (row?.pinned_sha256 === sha256 && (problem === null || row.approved_by !== null)) {
    const pinnedDefinition = canonicalizeJson(redacted);
    if (row.quarantined_sha256 !== null || row.pinned_definition !== pinnedDefinition)
      await updateRow(db, scope, tool, { ...NOT_QUARANTINED, pinned_definition: pinnedDefinition });
    return { ...base, ...buildPinnedStatus(definition, pinnedDefinition) };
  }
  const reason =
    problem ?? describeControls(definition) ?? describeDifference(row, sha256, redacted, rows, present);
  if (reason === null) {
    const pinned = {
      pinned_sha256: sha256,
      pinned_definition: canonicalizeJson(redacted),
      ...NOT_QUARANTINED,
    };
    await insertPin(db, scope, tool, pinned, nowMs);
    const kept = (await readPinRows(db, scope)).find((one) => one.tool === tool);
    if (kept?.pinned_sha256 === sha256)
      return { ...base, ...buildPinnedStatus(definition, kept.pinned_definition) };
    return {
      ...base,
      status: 'quarantined',
      reason: 'Another definition was pinned at this moment.',
      is_new_quarantine: false,
    };
  }
  const held = {
    quarantined_sha256: sha256,
    quarantined_definition: canonicalizeJson(redacted),
    quarantined_reason: reason,
  };
  if (row === undefined)
    await insertPin(db, scope, tool, { pinned_sha256: null, pinned_definition: null, ...held }, nowMs);
  else if (row.quarantined_sha256 !== sha256 || row.quarantined_reason !== reason)
    await updateRow(db, scope, tool, { ...held, changed_ms: nowMs });
  const isKnown = row?.quarantined_sha256 === sha256 || row?.rejected_sha256 === sha256;
  return { ...base, status: 'quarantined', reason, is_new_quarantine: !isKnown };
}

function buildPinnedStatus(definition: ListedTool['definition'], pinnedDefinition: string | null) {
  const as = { status: 'pinned', reason: null, is_new_quarantine: false } as const;
  return { ...as, ...findReplacement(definition, { pinned_definition: pinnedDefinition }) };
}

/** Returns the redacted definition if anything in it is masked. */
function findReplacement(
  definition: ListedTool['definition'],
  { pinned_definition }: Pick<PinRow, 'pinned_definition'>,
): Pick<ToolPinStatus, 'definition'> {
  if (pinned_definition === null || pinned_definition === canonicalizeJson(definition)) return {};
  return { definition: JSON.parse(pinned_definition) as ListedTool['definition'] };
}

const NOT_QUARANTINED = { quarantined_sha256: null, quarantined_definition: null, quarantined_reason: null };

/** Describes how a definition without findings differs from the stored row; `null` if it is simply new. */
function describeDifference(
  row: PinRow | undefined,
  sha256: string,
  shown: ListedTool['definition'],
  rows: ReadonlyMap<string, PinRow>,
  present: ReadonlySet<string>,
): string | null {
  if (row !== undefined && row.pinned_sha256 !== null)
    return 'Its definition has changed since it was pinned.';
  if (row !== undefined)
    return row.quarantined_sha256 === sha256 && row.quarantined_reason !== null
      ? row.quarantined_reason
      : 'It was held back before, and its definition has changed since.';
  const former = [...rows.values()].find(
    (other) =>
      !present.has(other.tool) &&
      removeName(other) === removeName({ pinned_definition: canonicalizeJson(shown) }),
  );
  return former === undefined ? null : `It is \`${former.tool}\` under another name.`;
}

// C0 and C1 control characters except tabs and line ends. They move cursors and hide text where a definition is
// displayed.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Reports control characters in the keys or texts of a definition; `null` if it contains none. */
function describeControls(definition: ListedTool['definition']): string | null {
  let found = false;
  JSON.stringify(definition, (key, value: unknown) => {
    found ||= CONTROL.test(key) || (typeof value === 'string' && CONTROL.test(value));
    return value;
  });
  return found ? 'Its definition holds control characters.' : null;
}

function removeName({ pinned_definition }: Pick<PinRow, 'pinned_definition'>): string | null {
  if (pinned_definition === null) return null;
  const { name: _name, ...rest } = JSON.parse(pinned_definition) as { [name: string]: Json };
  return canonicalizeJson(rest);
}

function readToolName(definition: ListedTool['definition']): string {
  return typeof definition.name === 'string' ? definition.name : '';
}

/** Returns a tool's name for a response. Characters that the protocol does not allow are masked. */
export function maskToolName(definition: ListedTool['definition']): string {
  const name = readToolName(definition);
  return NAME.test(name) ? name : name.slice(0, 128).replace(/[^A-Za-z0-9_.-]/gu, '?');
}

function readPinRows(db: Db, { tenant_id, server, user_id }: PinScope): Promise<PinRow[]> {
  return db
    .selectFrom('mcp_pins')
    .selectAll()
    .where('tenant_id', '=', tenant_id)
    .where('server', '=', server)
    .where('user_id', '=', user_id)
    .orderBy('tool')
    .execute();
}

const UNDECIDED = { approved_by: null, rejected_sha256: null, rejected_by: null };
const NOT_REJECTED = { rejected_sha256: null, rejected_by: null };

type PinChange = Partial<Omit<PinRow, 'tenant_id' | 'server' | 'user_id' | 'tool'>>;
type NewPin = Pick<
  PinRow,
  | 'pinned_sha256'
  | 'pinned_definition'
  | 'quarantined_sha256'
  | 'quarantined_definition'
  | 'quarantined_reason'
>;

/** Inserts a pin. If two callers insert the same tool concurrently, the second one reads the pin of the first. */
async function insertPin(db: Db, scope: PinScope, tool: string, first: NewPin, nowMs: number): Promise<void> {
  await db
    .insertInto('mcp_pins')
    .values({ ...scope, tool, ...first, ...UNDECIDED, first_seen_ms: nowMs, changed_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'server', 'user_id', 'tool']).doNothing())
    .execute();
}

async function updateRow(db: Db, scope: PinScope, tool: string, change: PinChange): Promise<void> {
  await db
    .updateTable('mcp_pins')
    .set(change)
    .where('tenant_id', '=', scope.tenant_id)
    .where('server', '=', scope.server)
    .where('user_id', '=', scope.user_id)
    .where('tool', '=', tool)
    .execute();
}

const LISTED_MAX = 1_000;

/** Returns the stored tools of one server or of all, 1,000 at most. */
export function listPins(
  db: Db,
  filter: {
    readonly tenant_ids: '*' | readonly string[];
    readonly server: string | null;
    readonly tool: string | null;
  },
): Promise<PinRow[]> {
  let query = db.selectFrom('mcp_pins').selectAll();
  if (filter.tenant_ids !== '*') query = query.where('tenant_id', 'in', [...filter.tenant_ids, '']);
  if (filter.server !== null) query = query.where('server', '=', filter.server);
  if (filter.tool !== null) query = query.where('tool', '=', filter.tool);
  return query.orderBy('server').orderBy('user_id').orderBy('tool').limit(LISTED_MAX).execute();
}

/** The decision of an operator on a quarantined definition. */
export interface PinDecision {
  readonly approves: boolean;
  /** The hash of the definition that the operator has seen. */
  readonly sha256: string;
  readonly by: string;
  readonly now_ms: number;
}

/**
 * Approves or rejects the quarantined definition if it is still the one that the operator has seen. Agents see an
 * approved definition. A rejected one stays hidden, and may be approved later.
 * @returns the updated row; `null` if no definition with this hash is quarantined
 */
export async function decidePin(
  db: Db,
  scope: PinScope,
  tool: string,
  { approves, sha256, by, now_ms }: PinDecision,
): Promise<PinRow | null> {
  const of = (row: PinRow) => row.tool === tool;
  const held = (await readPinRows(db, scope)).find(of);
  if (held === undefined || held.quarantined_sha256 !== sha256) return null;
  const pinned = { pinned_sha256: sha256, pinned_definition: held.quarantined_definition };
  const change = approves
    ? { ...pinned, ...NOT_QUARANTINED, ...NOT_REJECTED, approved_by: by }
    : { rejected_sha256: sha256, rejected_by: by };
  const done = await db
    .updateTable('mcp_pins')
    .set({ ...change, changed_ms: now_ms })
    .where('tenant_id', '=', scope.tenant_id)
    .where('server', '=', scope.server)
    .where('user_id', '=', scope.user_id)
    .where('tool', '=', tool)
    .where('quarantined_sha256', '=', sha256)
    .executeTakeFirst();
  if (Number(done.numUpdatedRows) === 0) return null;
  return (await readPinRows(db, scope)).find(of) ?? null;
}

import { walkContent } from '../../json/walk.ts';
import { allowSteps, countSteps, takeSteps } from '../../steps.ts';
import { covers } from '../../tags.ts';
import type { ToolCall } from '../../types/crossing.ts';
import type { Content, ScanLimits, Tag } from '../../types/index.ts';
import { getTargetText, isNetworkProgram } from '../shell/network-programs.ts';
import { listDialects, readCommands } from '../shell/read.ts';
import type { Command, ShellWord } from '../shell/syntax.ts';
import { buildAddressTags, buildHostTag, findUrls, isIpAddress, parseHost } from './hosts.ts';
import { holdsCommands } from './keys.ts';
import { buildPathTags, classifyPathKey, findPaths, findWorkspace, isSinglePath } from './paths.ts';
import { showsManagedSecret } from './secret-stores.ts';
import { findSqlTags } from './sql.ts';

const HOST_KEY =
  /^(?:host|hosts|host_?name|server|domain|endpoint|target|address|ip|ip_?address|remote|(?:\w{1,20}_)?ur[li]s?|\w{0,20}Ur[li]s?|href|link|links|webhook|callback|origin|proxy|site|website|page)$/i;
/** An IP address in its usual form, with nothing else but a port, a path and a query. */
const ADDRESS = /^\s*(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?(?:[/?#]\S*)?\s*$/i;
/** Smaller numbers are ports, counts and names. */
const NUMBER_ADDRESS_MIN = 0x1000000;

/** Programs that run SQL. */
const RUNS_SQL =
  /^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|sqlplus|cockroach|clickhouse-client|duckdb|bq|snowsql|usql|cqlsh)$/;

interface FoundFacts {
  readonly tags: Set<Tag>;
  /** Host tags that rules name. Only these are reported, because the names in a text are confidential. */
  readonly hosts: readonly Tag[];
  readonly tool: string | null;
  /** The canonical folder of the agent's project; `null` if it is unknown or too wide. */
  readonly workspace: string | null;
  /** True if a script was not read to its end. */
  is_cut: boolean;
}

/**
 * Collects the targets of a tool's arguments as tags: addresses, files and kinds of SQL statements. Facts are
 * not findings: they have no offset and no severity, and apply only in a rule that names them. Content beyond
 * a limit of `limits` is not scanned; the coverage of the crossing already reports that. Returns `null` if the
 * content takes more steps than it may (steps.ts), or a script in it exceeds a limit (`SHELL_LIMITS`).
 * @param call - the called tool, and the agent's working folder if a trusted caller names it
 */
export function collectToolFacts(
  content: Content,
  named: readonly Tag[],
  limits: ScanLimits,
  { tool, working_dir }: ToolCall = { tool: null },
): readonly Tag[] | null {
  const hosts = named.filter((tag) => covers('host', tag));
  const workspace = working_dir === undefined ? null : findWorkspace(working_dir);
  const found: FoundFacts = { tags: new Set(), hosts, tool, workspace, is_cut: false };
  const isRead = takeSteps(0, () => addContent(found, content, limits));
  return isRead && !found.is_cut ? [...found.tags].sort() : null;
}

/** Steps to reach a leaf. */
const LEAF_STEPS = 100;

function addContent(found: FoundFacts, content: Content, limits: ScanLimits): void {
  let key = '';
  if (content.kind === 'text') {
    allowSteps(content.text.length);
    addText(found, content.text, '');
  } else
    walkContent(content, limits, (leaf) => {
      allowSteps(leaf.text.length + 1);
      countSteps(LEAF_STEPS);
      if (leaf.kind === 'key') key = leaf.text;
      else if (leaf.kind === 'string') addText(found, leaf.text, key);
    });
}

/** Steps to search one unit for addresses, paths and statements. */
const UNIT_STEPS = 10;

function addText(found: FoundFacts, text: string, key: string): void {
  countSteps(text.length * UNIT_STEPS);
  for (const place of findUrls(text)) addPlace(found, place);
  if (/[\t\r\n]/.test(text) && HOST_KEY.test(key))
    for (const place of findUrls(text.replace(/[\t\r\n]/g, ''))) addPlace(found, place);
  if (HOST_KEY.test(key) || ADDRESS.test(text)) addHost(found, text.trim());
  for (const tag of findSqlTags(text)) found.tags.add(tag);
  const kind = classifyPathKey(key, found.tool);
  if (kind === 'path') for (const path of findPaths(text)) addPath(found, path);
  else if (kind === null && isSinglePath(text)) addPath(found, text);
  if (!holdsCommands(key)) return;
  for (const dialect of listDialects(text)) {
    const { commands, is_cut } = readCommands(text, { dialect });
    found.is_cut ||= is_cut;
    for (const command of commands) addCommand(found, command);
  }
}

/** Steps to inspect a word of a command. */
const WORD_STEPS = 100;

function addCommand(found: FoundFacts, command: Command): void {
  const { name, words, redirections, code } = command;
  if (showsManagedSecret(command)) found.tags.add('path.secret_store');
  for (const [at, { text }] of words.entries()) {
    countSteps(WORD_STEPS + text.length * UNIT_STEPS);
    const value = getTargetText(text);
    for (const place of findUrls(value)) addPlace(found, place);
    if (isSinglePath(value)) addPath(found, value);
    if (isNetworkProgram(name) && !text.startsWith('-') && !isValue(words[at - 1])) addHost(found, value);
    if (RUNS_SQL.test(name)) for (const tag of findSqlTags(value)) found.tags.add(tag);
  }
  for (const { target } of redirections) if (isSinglePath(target)) addPath(found, target);
  if (code !== null) for (const place of findUrls(code)) addPlace(found, place);
}

/**
 * Returns whether a word is the value of the flag before it. A few flags name a host, so their values count
 * as words.
 */
function isValue(before: ShellWord | undefined): boolean {
  return before !== undefined && /^-(?!h$|H$|-host$|z?v?$|s?S?f?L?$)/.test(before.text);
}

/**
 * Adds the host in `ada@example.com:notes`, `example.com/a` or `10.0.0.1`. A name needs a dot, or is
 * `localhost`.
 */
function addHost(found: FoundFacts, text: string): void {
  if (text.length > 2048 || text.includes('://')) return;
  const host = parseHost(/^[/\\]{0,2}([^/?#\s\\]*)/.exec(text.trim())![1]!);
  if (host === null) return;
  const isNumber = isIpAddress(host) && Number(host) >= NUMBER_ADDRESS_MIN;
  if (isNumber || /[.:].*[a-z0-9]/.test(host) || host === 'localhost' || host === 'metadata')
    addPlace(found, { host, scheme: null });
}

function addPlace(found: FoundFacts, place: { readonly host: string; readonly scheme: string | null }): void {
  for (const tag of buildAddressTags(place)) found.tags.add(tag);
  if (found.hosts.length === 0) return;
  const tag = buildHostTag(place.host);
  for (const named of found.hosts) if (covers(named, tag)) found.tags.add(named);
}

function addPath(found: FoundFacts, path: string): void {
  for (const tag of buildPathTags(path, found.workspace)) found.tags.add(tag);
}

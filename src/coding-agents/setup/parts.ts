import { EARLIER_NAME, PACKAGE_NAME } from '../../core/names.ts';
import type { Json } from '../../core/types/index.ts';
import { findOurArguments } from '../record/hook-command.ts';
import { readMembers } from '../record/json-members.ts';
import {
  type AgentSettings,
  type HookFormat,
  type InstalledHook,
  listInstalledHooks,
  type WantedHook,
} from '../record/settings.ts';
import type { Draft } from './edit/draft.ts';
import type { DocumentPath } from './edit/edit.ts';
import { SettingsFailure } from './settings-document.ts';

/** The entries that setup manages in a settings file: hooks, or an MCP server. */
export interface SettingsPart {
  /** Makes a draft contain exactly the wanted entries. A draft that already does is not changed. */
  readonly install: (draft: Draft) => void;
  /** Removes every entry of this program. */
  readonly uninstall: (draft: Draft) => void;
}

/** The most entries of this program that setup changes in one file. Each change parses the file again. */
const OURS_MAX = 100;

/** The name of this program's MCP server in an agent's list. */
const SERVER_NAME = PACKAGE_NAME;

/** Returns the hooks of an agent. `commandFor` returns the command line of an event. */
export function planHooksPart(settings: AgentSettings, commandFor: (event: string) => string): SettingsPart {
  const { hook_format, required_keys } = settings;
  const installed = listInstalledHooks(settings);
  const listOurs = (draft: Draft) =>
    refuseTooMany(hook_format.list(draft.document()).filter(({ is_ours }) => is_ours));
  const wantedEvents = new Set(installed.map(({ event }) => event));
  return {
    install: (draft) => {
      for (const [key, value] of Object.entries(required_keys))
        if (readMember(draft.document(), key) === undefined) draft.insert([key], value);
      for (const wanted of installed)
        installHook(draft, hook_format, wanted, commandFor(wanted.event), listOurs);
      removeHooks(
        draft,
        listOurs(draft).filter(({ event }) => !wantedEvents.has(event)),
      );
    },
    uninstall: (draft) => removeHooks(draft, listOurs(draft)),
  };
}

/** Keeps a correct hook; otherwise replaces an older one of ours; otherwise appends a new one. */
function installHook(
  draft: Draft,
  format: HookFormat,
  wanted: WantedHook,
  command: string,
  listOurs: (draft: Draft) => readonly InstalledHook[],
): void {
  const entry = format.entry(wanted, command);
  const here = () => listOurs(draft).filter(({ event }) => event === wanted.event);
  const hooks = here();
  const right = hooks.find((hook) => isSameHook(format, draft, hook, entry));
  const alone = hooks.find(({ path }) => findEntryPath(draft.document(), path).length === ENTRY_DEPTH);
  if (right !== undefined) {
    removeHooks(
      draft,
      hooks.filter((hook) => hook !== right),
    );
  } else if (alone === undefined) {
    removeHooks(draft, hooks);
    draft.insert(['hooks', wanted.event, '-'], entry);
  } else {
    draft.replace(findEntryPath(draft.document(), alone.path), entry);
    removeHooks(
      draft,
      here().filter((hook) => !isSameHook(format, draft, hook, entry)),
    );
  }
}

/** The length of the path of an entry: `hooks`, the event, the position. */
const ENTRY_DEPTH = 3;

/** Returns whether a hook is as setup would write it. Its group may hold other hooks. */
function isSameHook(format: HookFormat, draft: Draft, hook: InstalledHook, entry: Json): boolean {
  const fresh = { hooks: { [hook.event]: [entry] } };
  const [expected] = format.list(fresh);
  return (
    expected !== undefined &&
    expected.matcher === hook.matcher &&
    isSame(readRequiredValue(draft.document(), hook.path), readRequiredValue(fresh, expected.path))
  );
}

/** Removes hooks from last to first, so that the paths of the others stay valid. */
function removeHooks(draft: Draft, hooks: readonly InstalledHook[]): void {
  for (const { path } of hooks.toReversed())
    draft.remove(widenToEmpty(draft.document(), findEntryPath(draft.document(), path)));
}

/** Returns the path of the whole entry if the hook is the only one in its group, else the path of the hook. */
function findEntryPath(document: unknown, path: DocumentPath): DocumentPath {
  if (path.length <= ENTRY_DEPTH) return path;
  const others = readRequiredValue(document, path.slice(0, -1));
  return Array.isArray(others) && others.length === 1 ? path.slice(0, ENTRY_DEPTH) : path;
}

/** Returns the path of the outermost value that would be empty without the value at a path. */
function widenToEmpty(document: unknown, path: DocumentPath): DocumentPath {
  if (path.length === 1) return path;
  const outer = path.slice(0, -1);
  const others = readRequiredValue(document, outer) as object;
  return Object.keys(others).length > 1 ? path : widenToEmpty(document, outer);
}

/** Returns the MCP server of this program. Entries for the MCP proxy (`--wrap`, `--gateway`) are kept. */
export function planServerPart({ mcp_servers: mcp }: AgentSettings, words: readonly string[]): SettingsPart {
  const listOurs = (draft: Draft) =>
    refuseTooMany(
      Object.entries(readMembers(readMember(draft.document(), mcp.key))).filter(([, entry]) =>
        isServer(entry),
      ),
    );
  const hasOwnServer = (draft: Draft) =>
    readMember(readMember(draft.document(), mcp.key), SERVER_NAME) !== undefined;
  return {
    install: (draft) => {
      const entry = readMembers(mcp.entry(words)) as Readonly<Record<string, Json>>;
      const found = listOurs(draft);
      for (const [name] of found.slice(1).toReversed()) draft.remove([mcp.key, name]);
      const [first] = found;
      if (first === undefined) {
        if (hasOwnServer(draft))
          throw new SettingsFailure(
            `has another MCP server with the name \`${SERVER_NAME}\`; rename it first`,
          );
        draft.insert([mcp.key, SERVER_NAME], entry);
        return;
      }
      // A user may have added variables or limits, which stay.
      const [name, current] = first as [string, Readonly<Record<string, Json>>];
      const isRight = Object.entries(entry).every(([key, value]) => isSame(current[key], value));
      if (name === EARLIER_NAME && !hasOwnServer(draft)) {
        draft.remove([mcp.key, name]);
        draft.insert([mcp.key, SERVER_NAME], { ...current, ...entry });
      } else if (!isRight) draft.replace([mcp.key, name], { ...current, ...entry });
    },
    uninstall: (draft) => {
      for (const [name] of listOurs(draft).toReversed())
        draft.remove(widenToEmpty(draft.document(), [mcp.key, name]));
    },
  };
}

function isServer(entry: unknown): boolean {
  const { command, args } = readMembers(entry);
  if (typeof command !== 'string') return false;
  const words = findOurArguments('mcp', [command, ...(Array.isArray(args) ? args.map(String) : [])]);
  return words !== null && !words.some((word) => word === '--wrap' || word === '--gateway');
}

function refuseTooMany<Entry>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= OURS_MAX) return entries;
  throw new SettingsFailure(
    `holds more than ${OURS_MAX} entries of this program; remove the surplus by hand`,
  );
}

function readMember(value: unknown, key: string): unknown {
  const members = readMembers(value);
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function readRequiredValue(document: unknown, path: DocumentPath): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], document);
}

function isSame(one: unknown, other: unknown): boolean {
  return toCanonicalJson(one) === toCanonicalJson(other);
}

/** Returns JSON with sorted keys. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

import type { Json } from '../../../core/types/index.ts';
import { toldTo } from '../command.ts';
import { SettingsFailure } from '../document.ts';
import type { Host, InstalledHook, WantedHook } from '../host.ts';
import { membersOf } from '../members.ts';
import type { Draft } from './edit/draft.ts';
import type { Path } from './edit/edit.ts';

/** What setup keeps in a settings file: hooks, or an MCP server. */
export interface Part {
  /** Makes a draft hold exactly what is wanted; one that does already is not touched. */
  readonly enter: (draft: Draft) => void;
  /** Takes everything out that is this program's. */
  readonly leave: (draft: Draft) => void;
}

/** More entries of one program than these are a mistake, and each costs a reading of the file. */
const OURS_MAX = 100;

/** By which name hosts list the MCP server of this program. */
const SERVER_NAME = 'agent-safety';

/** The hooks of a host; `commandFor` gives the command line of an event. */
export function hooksPart(host: Host, commandFor: (event: string) => string): Part {
  const ours = (draft: Draft) => bounded(host.shape.list(draft.document()).filter(({ is_ours }) => is_ours));
  const wanted_events = new Set(host.wanted.map(({ event }) => event));
  return {
    enter: (draft) => {
      for (const [key, value] of Object.entries(host.frame))
        if (memberOf(draft.document(), key) === undefined) draft.insert([key], value);
      for (const wanted of host.wanted) enterHook(draft, host, wanted, commandFor(wanted.event), ours);
      takeOut(
        draft,
        ours(draft).filter(({ event }) => !wanted_events.has(event)),
      );
    },
    leave: (draft) => takeOut(draft, ours(draft)),
  };
}

/** Keeps the hook that is right, else puts the new one in place of an older one, else behind all others. */
function enterHook(
  draft: Draft,
  host: Host,
  wanted: WantedHook,
  command: string,
  ours: (draft: Draft) => readonly InstalledHook[],
): void {
  const entry = host.shape.entry(wanted, command);
  const here = () => ours(draft).filter(({ event }) => event === wanted.event);
  const hooks = here();
  const right = hooks.find((hook) => isAs(host, draft, hook, entry));
  const alone = hooks.find(({ path }) => unitOf(draft.document(), path).length === ENTRY_DEPTH);
  if (right !== undefined) {
    takeOut(
      draft,
      hooks.filter((hook) => hook !== right),
    );
  } else if (alone === undefined) {
    takeOut(draft, hooks);
    draft.insert(['hooks', wanted.event, '-'], entry);
  } else {
    draft.replace(unitOf(draft.document(), alone.path), entry);
    takeOut(
      draft,
      here().filter((hook) => !isAs(host, draft, hook, entry)),
    );
  }
}

/** `hooks`, the event, the position. */
const ENTRY_DEPTH = 3;

/** Whether a hook stands there as setup would write it, perhaps beside others in its group. */
function isAs(host: Host, draft: Draft, hook: InstalledHook, entry: Json): boolean {
  const fresh = { hooks: { [hook.event]: [entry] } };
  const [meant] = host.shape.list(fresh);
  return (
    meant !== undefined &&
    meant.matcher === hook.matcher &&
    isSame(valueAt(draft.document(), hook.path), valueAt(fresh, meant.path))
  );
}

/** From the last to the first, so that the places of those before stay what they are. */
function takeOut(draft: Draft, hooks: readonly InstalledHook[]): void {
  for (const { path } of hooks.toReversed())
    draft.remove(withoutEmpty(draft.document(), unitOf(draft.document(), path)));
}

/** The entry that a hook is all of: a group that has no other goes as a whole. */
function unitOf(document: unknown, path: Path): Path {
  if (path.length <= ENTRY_DEPTH) return path;
  const others = valueAt(document, path.slice(0, -1));
  return Array.isArray(others) && others.length === 1 ? path.slice(0, ENTRY_DEPTH) : path;
}

/** What has to go with a value so that no empty list or object is left. */
function withoutEmpty(document: unknown, path: Path): Path {
  if (path.length === 1) return path;
  const outer = path.slice(0, -1);
  const others = valueAt(document, outer) as object;
  return Object.keys(others).length > 1 ? path : withoutEmpty(document, outer);
}

/** The MCP server of this program in a host's list; gateways to other servers (`--wrap`, `--gateway`) are let be. */
export function serverPart({ mcp }: Host, words: readonly string[]): Part {
  const ours = (draft: Draft) =>
    bounded(
      Object.entries(membersOf(memberOf(draft.document(), mcp.key))).filter(([, entry]) => isServer(entry)),
    );
  return {
    enter: (draft) => {
      const entry = membersOf(mcp.entry(words)) as Readonly<Record<string, Json>>;
      const found = ours(draft);
      for (const [name] of found.slice(1).toReversed()) draft.remove([mcp.key, name]);
      const [first] = found;
      if (first === undefined) {
        if (memberOf(memberOf(draft.document(), mcp.key), SERVER_NAME) !== undefined)
          throw new SettingsFailure(
            `has another MCP server by the name of \`${SERVER_NAME}\`; rename that one first`,
          );
        draft.insert([mcp.key, SERVER_NAME], entry);
        return;
      }
      // A person may have added variables or limits, which stay.
      const [name, standing] = first as [string, Readonly<Record<string, Json>>];
      const is_right = Object.entries(entry).every(([key, value]) => isSame(standing[key], value));
      if (!is_right) draft.replace([mcp.key, name], { ...standing, ...entry });
    },
    leave: (draft) => {
      for (const [name] of ours(draft).toReversed())
        draft.remove(withoutEmpty(draft.document(), [mcp.key, name]));
    },
  };
}

function isServer(entry: unknown): boolean {
  const { command, args } = membersOf(entry);
  if (typeof command !== 'string') return false;
  const told = toldTo('mcp', [command, ...(Array.isArray(args) ? args.map(String) : [])]);
  return told !== null && !told.some((word) => word === '--wrap' || word === '--gateway');
}

function bounded<Entry>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= OURS_MAX) return entries;
  throw new SettingsFailure(`holds more than ${OURS_MAX} entries of this program; take them out by hand`);
}

function memberOf(value: unknown, key: string): unknown {
  const members = membersOf(value);
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function valueAt(document: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], document);
}

function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

/** JSON in which the order of keys is the same for the same value. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

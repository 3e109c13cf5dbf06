import type { Json } from '../../core/types/index.ts';
import { readCommand } from './hook-command.ts';
import { type JsonMembers, readMembers } from './json-members.ts';
import type { HookFormat, InstalledHook } from './settings.ts';

/** The time that an agent waits for a hook. The hook itself denies after 8 s. */
const TIMEOUT_MS = 30_000;

/** Returns the format `{hooks: {Event: [{matcher, hooks: [{type, command, timeout}]}]}}`. */
export function formatGroupedHooks(timeoutUnitMs: 1 | 1000): HookFormat {
  return {
    list: (document) =>
      listItems(document).flatMap(({ event, item, path }) => {
        // An early installer of a similar program wrote bare strings, which agents ignore.
        if (typeof item === 'string')
          return readHook({ command: item }, event, null, path, 'timeout', timeoutUnitMs);
        const { matcher, hooks } = readMembers(item);
        if (!Array.isArray(hooks)) return [];
        const name = typeof matcher === 'string' ? matcher : null;
        return hooks.flatMap((each, at) =>
          readHook(readMembers(each), event, name, [...path, 'hooks', at], 'timeout', timeoutUnitMs),
        );
      }),
    entry: ({ matcher }, command) => ({
      ...(matcher !== null && { matcher }),
      hooks: [{ type: 'command', command, timeout: TIMEOUT_MS / timeoutUnitMs }],
    }),
    timeout_unit_ms: timeoutUnitMs,
  };
}

/**
 * Returns the format `{hooks: {event: [{<command_key>, matcher, <timeout_key>}]}}` with time-outs in seconds.
 * @param extra members of every entry
 */
export function formatFlatHooks(
  commandKey: 'command' | 'bash',
  timeoutKey: 'timeout' | 'timeoutSec',
  extra: { readonly [key: string]: Json },
): HookFormat {
  return {
    list: (document) =>
      listItems(document).flatMap(({ event, item, path }) => {
        const members = readMembers(item);
        const matcher = typeof members.matcher === 'string' ? members.matcher : null;
        return readHook(members, event, matcher, path, timeoutKey, 1000);
      }),
    entry: ({ matcher }, command) => ({
      ...extra,
      [commandKey]: command,
      ...(matcher !== null && { matcher }),
      [timeoutKey]: TIMEOUT_MS / 1000,
    }),
    timeout_unit_ms: 1000,
  };
}

interface ListedItem {
  readonly event: string;
  readonly item: unknown;
  readonly path: readonly (string | number)[];
}

function listItems(document: unknown): readonly ListedItem[] {
  return Object.entries(readMembers(readMembers(document).hooks)).flatMap(([event, items]) =>
    Array.isArray(items) ? items.map((item, at) => ({ event, item, path: ['hooks', event, at] })) : [],
  );
}

function readHook(
  members: JsonMembers,
  event: string,
  matcher: string | null,
  path: readonly (string | number)[],
  timeoutKey: string,
  unitMs: number,
): readonly InstalledHook[] {
  const command = readCommand(members);
  if (command === null) return [];
  const timeout = members[timeoutKey];
  const timeoutMs = typeof timeout === 'number' ? timeout * unitMs : null;
  return [
    { event, matcher, ...command, timeout_ms: timeoutMs, fails_closed: members.failClosed === true, path },
  ];
}

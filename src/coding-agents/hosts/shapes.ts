import type { Json } from '../../core/types/index.ts';
import { commandOf } from './command.ts';
import type { HookShape, InstalledHook } from './host.ts';
import { type Members, membersOf } from './members.ts';

/** How long a host waits for a hook; the hook's own watch ends after 8 s. */
const TIMEOUT_MS = 30_000;

/** `{hooks: {Event: [{matcher, hooks: [{type, command, timeout}]}]}}`; `unit_ms` is what a time-out of 1 stands for. */
export function groupedHooks(unit_ms: 1 | 1000): HookShape {
  return {
    list: (document) =>
      listed(document).flatMap(({ event, item, path }) => {
        // An earlier installer of this kind of program wrote bare strings, which hosts pass over.
        if (typeof item === 'string') return hookOf({ command: item }, event, null, path, 'timeout', unit_ms);
        const { matcher, hooks } = membersOf(item);
        if (!Array.isArray(hooks)) return [];
        const name = typeof matcher === 'string' ? matcher : null;
        return hooks.flatMap((each, at) =>
          hookOf(membersOf(each), event, name, [...path, 'hooks', at], 'timeout', unit_ms),
        );
      }),
    entry: ({ matcher }, command) => ({
      ...(matcher !== null && { matcher }),
      hooks: [{ type: 'command', command, timeout: TIMEOUT_MS / unit_ms }],
    }),
  };
}

/** `{hooks: {event: [{<command_key>, matcher, <timeout_key>}]}}`, time-outs in seconds; `more` goes into every entry. */
export function flatHooks(
  command_key: 'command' | 'bash',
  timeout_key: 'timeout' | 'timeoutSec',
  more: { readonly [key: string]: Json },
): HookShape {
  return {
    list: (document) =>
      listed(document).flatMap(({ event, item, path }) => {
        const members = membersOf(item);
        const matcher = typeof members.matcher === 'string' ? members.matcher : null;
        return hookOf(members, event, matcher, path, timeout_key, 1000);
      }),
    entry: ({ matcher }, command) => ({
      ...more,
      [command_key]: command,
      ...(matcher !== null && { matcher }),
      [timeout_key]: TIMEOUT_MS / 1000,
    }),
  };
}

interface Listed {
  readonly event: string;
  readonly item: unknown;
  readonly path: readonly (string | number)[];
}

function listed(document: unknown): readonly Listed[] {
  return Object.entries(membersOf(membersOf(document).hooks)).flatMap(([event, items]) =>
    Array.isArray(items) ? items.map((item, at) => ({ event, item, path: ['hooks', event, at] })) : [],
  );
}

function hookOf(
  members: Members,
  event: string,
  matcher: string | null,
  path: readonly (string | number)[],
  timeout_key: string,
  unit_ms: number,
): readonly InstalledHook[] {
  const found = commandOf(members);
  if (found === null) return [];
  const timeout = members[timeout_key];
  const timeout_ms = typeof timeout === 'number' ? timeout * unit_ms : null;
  return [{ event, matcher, ...found, timeout_ms, fails_closed: members.failClosed === true, path }];
}

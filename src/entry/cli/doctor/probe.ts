import { randomBytes } from 'node:crypto';
import { PROBE_TEXTS } from '../../hook/probe.ts';
import { type Check, fail, ok, type Place, warn } from './check.ts';
import type { Answer, HostFolder, HostSide, InstalledHook, Reading } from './hosts/host.ts';
import { runHook } from './run.ts';

/** Longer than any hook of ours takes; hosts that wait for minutes are not waited for. */
const PATIENCE_MS = 30_000;

/** A hook to be tried. */
export interface Trial {
  readonly side: HostSide;
  readonly hook: InstalledHook;
  readonly folder: HostFolder;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: Place;
  /**
   * Asks what the policy would answer to what a host sends; `null`: nothing in its way. A sentence says what is in the
   * way of the harmless probe.
   */
  readonly expects: (payload: object, event: string) => Promise<string | null>;
  /** Whether the host would ask the hook at all, as its settings stand. */
  readonly is_asked: boolean;
  readonly now_ms: () => number;
}

/** What trying a hook came to. */
export interface Tried {
  readonly checks: readonly Check[];
  /** The session of its probes, by which the audit trail has them; `null`: nothing was sent. */
  readonly session_id: string | null;
  /** Whether the host would stop for it. */
  readonly blocks: boolean;
  /** Whether it answered as it should, so that something has to stand in the audit trail. */
  readonly is_understood: boolean;
}

/** Sends both probes through a hook, in the way its host would, and says what the host would make of the answers. */
export async function tryHook(trial: Trial): Promise<Tried> {
  const { side, hook, folder, place, expects, is_asked, now_ms } = trial;
  const session_id = `service-doctor-${randomBytes(8).toString('hex')}`;
  const payloadOf = (text: string) =>
    side.payload(hook.event, { text, session_id, cwd: folder.project, now_ms: now_ms() });
  const bad = payloadOf(PROBE_TEXTS.block);
  const good = payloadOf(PROBE_TEXTS.pass);
  if (bad === null || good === null)
    return { checks: [], session_id: null, blocks: false, is_understood: false };
  const refused = await ask(trial, bad, PROBE_TEXTS.block);
  const stopped = readRefusal(refused, place);
  if (stopped !== null)
    return {
      checks: [stopped],
      session_id,
      blocks: is_asked && refused.reading.effect === 'stops',
      is_understood: false,
    };
  const in_the_way = await expects(good, hook.event);
  const passed = in_the_way === null ? readPassage(await ask(trial, good, PROBE_TEXTS.pass), place) : null;
  const is_whole = in_the_way === null && passed === null;
  const blocks = is_asked
    ? ok('hook.blocks', place, `It blocks${is_whole ? ', and lets a harmless call through' : ''}.`)
    : warn('hook.blocks', place, 'It would block, but the host does not ask it, or not wait for it.', null);
  const other = in_the_way === null ? passed : untried(in_the_way, place);
  return {
    checks: other === null ? [blocks] : [blocks, other],
    session_id,
    blocks: is_asked,
    // One that refuses all may do so for want of a place to write.
    is_understood: passed === null,
  };
}

interface Asked {
  readonly answer: Answer;
  readonly reading: Reading;
}

async function ask({ side, hook, folder, env }: Trial, payload: object, probe: string): Promise<Asked> {
  const wait_ms = Math.min(hook.timeout_ms ?? side.timeoutOf(hook.event), PATIENCE_MS);
  const answer = await runHook(side.start(hook, folder), JSON.stringify(payload), wait_ms, env);
  return { answer, reading: side.read(hook.event, answer, hook, probe) };
}

/** What is wrong with the answer to the probe that is to be refused; `null`: nothing. */
function readRefusal({ answer, reading: { effect, fault } }: Asked, place: Place): Check | null {
  if (effect === 'unheard')
    return warn(
      'hook.blocks',
      place,
      'The coding agent takes no decision at this event: the content is recorded and continues.',
      null,
    );
  if (effect === 'stops')
    return fault === null
      ? null
      : fail(
          'hook.blocks',
          place,
          `It is broken (${fault}), so the coding agent denies everything.`,
          mending(answer),
        );
  if (effect === 'asks')
    return fail('hook.blocks', place, 'It asks the user about calls that must be denied.', mending(answer));
  const why = fault === null ? 'it answered yes' : fault;
  return fail(
    'hook.blocks',
    place,
    `It does NOT block: ${why}, and the coding agent continues.`,
    mending(answer),
  );
}

/** What the harmless probe came to; `null`: it went through. */
function readPassage({ answer, reading: { effect, fault } }: Asked, place: Place): Check | null {
  if (effect === 'goes_on' && fault === null) return null;
  const what = fault ?? (effect === 'asks' ? 'it asks the user' : 'it answered no');
  return fail('hook.passes', place, `It denies a harmless call: ${what}.`, mending(answer));
}

function untried(in_the_way: string, place: Place): Check {
  return warn(
    'hook.passes',
    place,
    `A harmless call was not tested: ${in_the_way}.`,
    'If this is not intended, check the rules with `service policy lint` and `service validate`.',
  );
}

const SAID_UNITS_MAX = 400;

/** What the hook says of it itself, in what a person can read of its answer. */
function mending({ stdout, stderr }: Answer): string {
  const said = stderr.trim() === '' ? longestText(stdout) : stderr.trim();
  const run = 'Run the command by hand to see more, or run `service setup` for this host again.';
  return said === '' ? run : `It says: ${said.slice(0, SAID_UNITS_MAX).replaceAll(/\s+/g, ' ')}`;
}

function longestText(stdout: string): string {
  let longest = '';
  try {
    JSON.parse(stdout, (_key, value: unknown) => {
      if (typeof value === 'string' && value.length > longest.length) longest = value;
      return value;
    });
  } catch {
    return stdout.trim();
  }
  return longest;
}

/** The parsed command line of a hook. */
export interface HookOptions {
  readonly config: string | null;
  readonly dialect: string | null;
  readonly event: string | null;
  readonly agent: string | null;
  readonly tenant: string | null;
  /** `null` uses the default of the dialect. */
  readonly timeout_ms: number | null;
  readonly exit_code: boolean;
  readonly daemon: boolean;
}

/** An invalid command line. The message is one sentence. */
export class UsageFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageFailure';
  }
}

const VALUES = ['agent', 'config', 'dialect', 'event', 'tenant', 'timeout-ms'] as const;
const SWITCHES = ['exit-code', 'daemon'] as const;
export const TIMEOUT_MS_MIN = 100;
export const TIMEOUT_MS_MAX = 600_000;

/**
 * Parses the arguments after `customshouse hook`. It uses no argument parser from npm, because loading one takes as long as
 * a decision.
 *
 * @throws UsageFailure
 */
export function parseHookOptions(words: readonly string[]): HookOptions {
  const values: Partial<Record<(typeof VALUES)[number], string>> = {};
  const switches = new Set<string>();
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, dashed = '', given] = /^--([A-Za-z_-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const name = word === '-c' ? 'config' : dashed.replaceAll('_', '-');
    if (isOne(SWITCHES, name) && given === undefined) switches.add(name);
    else if (isOne(VALUES, name)) values[name] = requireOptionValue(name, given ?? rest.shift());
    else throw new UsageFailure('There is an option that is not known here; see `customshouse hook --help`.');
  }
  return {
    config: values.config ?? null,
    dialect: values.dialect ?? null,
    event: values.event ?? null,
    agent: values.agent ?? null,
    tenant: values.tenant ?? null,
    timeout_ms: getTimeout(values['timeout-ms']),
    exit_code: switches.has('exit-code'),
    daemon: switches.has('daemon'),
  };
}

function requireOptionValue(name: string, given: string | undefined): string {
  if (given === undefined || given === '') throw new UsageFailure(`--${name} needs a value.`);
  return given;
}

function isOne<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

function getTimeout(written: string | undefined): number | null {
  if (written === undefined) return null;
  const ms = Number(written);
  if (!/^\d+$/.test(written) || ms < TIMEOUT_MS_MIN || ms > TIMEOUT_MS_MAX)
    throw new UsageFailure(`--timeout-ms is a whole number from ${TIMEOUT_MS_MIN} to ${TIMEOUT_MS_MAX}.`);
  return ms;
}

import type { DocumentProblem } from '../../core/types/index.ts';
import type { ReferenceSources } from './interpolate.ts';
import { parseConfigValue } from './parse-config-value.ts';
import { endSentence } from './problem-text.ts';
import { spineSchema } from './schema.ts';
import type { ConfigSchema } from './schema-types.ts';

/** Options of `serve` that override the file. They are validated like the keys they override. */
export interface Overrides {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly mode?: string | undefined;
  readonly workers?: number | undefined;
  readonly state_dir?: string | undefined;
  readonly upstream_base_url?: string | undefined;
  readonly log_level?: string | undefined;
}

const OPTIONS: readonly (readonly [keyof Overrides, string, readonly string[]])[] = [
  ['host', '--host', ['server', 'host']],
  ['port', '--port', ['server', 'port']],
  ['mode', '--mode', ['server', 'mode']],
  ['workers', '--workers', ['server', 'workers']],
  ['state_dir', '--state-dir', ['state_dir']],
  ['upstream_base_url', '--upstream-base-url', ['proxy', 'target']],
  ['log_level', '--log-level', ['log', 'level']],
];

/**
 * Applies the options to a copy of a parsed configuration. An invalid value is a problem of the file `command line`,
 * with the option as its path.
 */
export function applyOverrides(
  settled: unknown,
  overrides: Overrides,
): { value: unknown; problems: DocumentProblem[] } {
  const problems: DocumentProblem[] = [];
  let value = settled;
  for (const [name, option, steps] of OPTIONS) {
    const given = overrides[name];
    if (given === undefined) continue;
    const checked = parseConfigValue(given, findSchema(steps), NO_SOURCES);
    if (checked.problems.length === 0) value = withValue(value, steps, checked.value);
    for (const { message } of checked.problems) {
      problems.push({
        file: 'command line',
        path: option,
        message: endSentence(`\`${option}\` ${message}`),
        level: 'error',
      });
    }
  }
  return { value, problems };
}

/** Options are literal: they contain no references. */
const NO_SOURCES: ReferenceSources = { env: {}, secrets: new Map() };

function findSchema(steps: readonly string[]): ConfigSchema {
  let schema: ConfigSchema = spineSchema;
  for (const step of steps) schema = schema.properties?.[step] ?? {};
  return schema;
}

function withValue(parent: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  const before = typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>) : {};
  return { ...before, [step]: withValue(before[step], rest, value) };
}

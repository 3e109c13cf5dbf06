import { type Command, InvalidArgumentError, Option } from 'commander';

/** Returns the option `--config`, which is the same in all commands. */
export function buildConfigOption(): Option {
  return new Option(
    '-c, --config <file>',
    'the configuration (default: $SERVICE_CONFIG, else ./service.yaml, else the one of setup)',
  );
}

/** Returns the option `--json`, which is the same in all commands. */
export function buildJsonOption(): Option {
  return new Option('--json', 'write JSON for a program');
}

/** Returns a parser for a whole number within bounds. Commander's message names the wrong option. */
export function parseWholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  };
}

/** Collects an option that may be given several times, or once with commas. */
export function collectValues(text: string, before: readonly string[] = []): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...before, ...parts.filter((part) => part !== '')];
}

/** Adds examples to the end of a command's help: each is a command line and its purpose. */
export function addExamples(
  command: Command,
  lines: readonly (readonly [line: string, what: string])[],
): void {
  const width = Math.min(60, Math.max(...lines.map(([line]) => line.length)));
  const text = lines.map(([line, what]) => `  $ ${line.padEnd(width)}  ${what}`.trimEnd());
  command.addHelpText('after', `\nExamples:\n${text.join('\n')}`);
}

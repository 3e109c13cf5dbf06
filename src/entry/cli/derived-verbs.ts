import { Argument, type Command, Option } from 'commander';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { type AnyOperation, getFullDescription } from '../../operations/operation.ts';
import { runOperation } from './run-operation.ts';

/** The parts of a member's JSON Schema that determine its command-line syntax. */
interface MemberSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

type CliVerb = NonNullable<AnyOperation['cli']>;

interface DerivedOperation extends AnyOperation {
  readonly cli: CliVerb;
}

/** Returns the operations that have a subcommand of this command, or of any command if `group` is `null`. */
function withVerb(operations: readonly AnyOperation[], group: string | null): DerivedOperation[] {
  return operations.filter(
    (each): each is DerivedOperation =>
      each.cli !== undefined && (group === null || each.cli.verb.split(' ')[0] === group),
  );
}

/** Returns the first words of all derived subcommands, with the summary of the first operation of each. */
export function listDerivedGroups(operations: readonly AnyOperation[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const { cli, summary } of withVerb(operations, null)) {
    const group = cli.verb.split(' ')[0]!;
    if (!groups.has(group)) groups.set(group, lowercaseFirst(summary));
  }
  return groups;
}

/**
 * Adds the subcommands of one command that are derived from operation records.
 * @param run - calls the operation
 */
export function addDerivedVerbs(
  command: Command,
  operations: readonly AnyOperation[],
  terminal: Terminal,
  run: typeof runOperation = runOperation,
): void {
  const derived = withVerb(operations, command.name());
  // A command without a file of its own shows the examples of its subcommands.
  if (command.commands.length + command.registeredArguments.length === 0 && derived.length > 0)
    addExamples(
      command,
      derived.flatMap(({ cli }) => cli.examples.slice(0, 1)),
    );
  for (const operation of derived) {
    const [verb, ...between] = operation.cli.verb.split(' ').slice(1).reverse();
    if (verb === undefined) throw new Error(`The verb of \`${operation.name}\` needs a second word.`);
    const parent = between.reverse().reduce(getSubcommand, command);
    addVerb(parent.command(verb), operation, terminal, run);
  }
}

function getSubcommand(parent: Command, name: string): Command {
  return parent.commands.find((each) => each.name() === name) ?? parent.command(name);
}

function addVerb(
  command: Command,
  operation: DerivedOperation,
  terminal: Terminal,
  run: typeof runOperation,
): void {
  const { cli, summary, input } = operation;
  const { properties = {}, required = [] } = input as {
    readonly properties?: Readonly<Record<string, MemberSchema>>;
    readonly required?: readonly string[];
  };
  const names = cli.arguments ?? [];
  command.summary(lowercaseFirst(summary)).description(`${summary}. ${getFullDescription(operation)}`);
  for (const name of names) {
    const written = required.includes(name) ? `<${name}>` : `[${name}]`;
    command.addArgument(
      addSyntax(new Argument(written, formatOptionText(properties[name])), properties[name] ?? {}),
    );
  }
  for (const name of cli.options ?? []) {
    const option = createOption(name, properties[name] ?? {});
    command.addOption(required.includes(name) ? option.makeOptionMandatory() : option);
  }
  command.addOption(buildConfigOption()).addOption(buildJsonOption());
  command.action(async () => {
    const options: CommonOptions = command.opts();
    const output = await run(terminal, options.config, operation, readInput(command, cli));
    if (options.json) printJson(terminal, output);
    else for (const line of formatOutput(cli, output as object)) printLine(terminal, line);
    if (!options.json)
      for (const line of cli.notices?.(output) ?? [])
        printNotice(terminal, `warning: ${escapeControls(line)}`);
  });
  addExamples(command, cli.examples);
}

interface CommonOptions {
  readonly config?: string;
  readonly json?: true;
  readonly [option: string]: unknown;
}

function readInput(command: Command, cli: CliVerb): Readonly<Record<string, unknown>> {
  const options: CommonOptions = command.opts();
  const members = [
    ...(cli.arguments ?? []).map((name, at) => [name, command.processedArgs[at]] as const),
    ...(cli.options ?? []).map((name) => [name, options[createOption(name, {}).attributeName()]] as const),
  ];
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Makes the flag of a member: `agent_id` becomes `--agent <agent_id>`, and a boolean takes no value. */
function createOption(name: string, schema: MemberSchema): Option {
  const flag = `--${name.replace(/_id$/, '').replaceAll('_', '-')}`;
  if ([schema.type].flat().includes('boolean')) return new Option(flag, formatOptionText(schema));
  return addSyntax(new Option(`${flag} <${name}>`, formatOptionText(schema)), schema);
}

/** Makes an argument or an option read its member's values. */
function addSyntax<Written extends Argument | Option>(written: Written, schema: MemberSchema): Written {
  const types = [schema.type ?? []].flat();
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const choices = (schema.enum ?? []).filter((each) => typeof each === 'string');
  if (types.includes('integer')) written.argParser(parseWholeNumber(minimum, maximum));
  else if (types.includes('array')) written.argParser(collectValues);
  else if (choices.length > 0) written.choices(choices);
  return written;
}

/** Formats a description as the text of an option: no capital letter, no full stop. */
function formatOptionText(schema: MemberSchema | undefined): string {
  return lowercaseFirst(schema?.description ?? '').replace(/\.$/, '');
}

function lowercaseFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

function formatOutput({ columns, line }: CliVerb, output: object): readonly string[] {
  if (line !== undefined) return [line(output)].flat().map(escapeControls);
  const members = output as Readonly<Record<string, unknown>>;
  if (columns === undefined) return formatMembers(members);
  const rows = members[columns.rows] as readonly Readonly<Record<string, unknown>>[];
  if (rows.length === 0) return [columns.empty];
  const cells = rows.map((row) => Object.values(columns.cells).map((name) => formatCell(row[name])));
  return formatTable(Object.keys(columns.cells), cells);
}

/**
 * Formats one line for each member. An object in the answer is replaced by its members' lines; one within it
 * is a line with its name, and its members are indented.
 */
function formatMembers(members: Readonly<Record<string, unknown>>, indent: string | null = null): string[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const label = `${indent ?? ''}${escapeControls(name)}`;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${label.padEnd(13)} ${escapeControls(formatCell(value) || '-')}`];
    const inner = value as Readonly<Record<string, unknown>>;
    return indent === null ? formatMembers(inner, '') : [label, ...formatMembers(inner, `${indent}  `)];
  });
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(formatCell).join(' ') : String(value);
}

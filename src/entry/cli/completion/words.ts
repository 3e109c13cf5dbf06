import type { Command, Option } from 'commander';

/** The words that can follow one command. `path` is the command itself, `''` for the program. */
export interface CommandWords {
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Known values of the command's own arguments. */
  readonly values: readonly string[];
}

export interface Word {
  readonly word: string;
  readonly about: string;
}

export interface OptionWord extends Word {
  readonly takes_value: boolean;
  /** The allowed values; empty if any value is allowed. */
  readonly values: readonly string[];
}

/** Lists the words of all commands from the parser's own definitions. */
export function listCommandWords(command: Command, path: readonly string[] = []): readonly CommandWords[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const own: CommandWords = {
    path: path.join(' '),
    subcommands: subcommands.map((child) => ({
      word: child.name(),
      about: child.summary() || child.description(),
    })),
    options: help.visibleOptions(command).flatMap(listOptionWords),
    values: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  };
  const known = subcommands.filter((child) => command.commands.includes(child));
  return [own, ...known.flatMap((child) => listCommandWords(child, [...path, child.name()]))];
}

function listOptionWords(option: Option): OptionWord[] {
  const takesValue = option.required || option.optional;
  const values = option.argChoices ?? [];
  const words = [option.long, option.short].filter((word) => word !== undefined && word !== null);
  return words.map((word) => ({ word, about: option.description, takes_value: takesValue, values }));
}

/**
 * The command that the scripts complete. `service` alone is a program of Debian, which already has a completion script.
 */
export { PACKAGE_NAME as PROGRAM_NAME } from '../../../core/names.ts';

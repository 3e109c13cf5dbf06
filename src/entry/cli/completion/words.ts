import type { Command, Option } from 'commander';

/** What can be typed after one command: `path` is the command's words, `''` for the program itself. */
export interface CommandWords {
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Values that the command's own arguments may have, where they are known. */
  readonly values: readonly string[];
}

export interface Word {
  readonly word: string;
  readonly about: string;
}

export interface OptionWord extends Word {
  readonly takes_value: boolean;
  /** The values that it may have; empty where anything goes. */
  readonly values: readonly string[];
}

/** Reads the program's own definition, so that completion knows what the parser knows. */
export function commandWords(command: Command, path: readonly string[] = []): readonly CommandWords[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const own: CommandWords = {
    path: path.join(' '),
    subcommands: subcommands.map((child) => ({
      word: child.name(),
      about: child.summary() || child.description(),
    })),
    options: help.visibleOptions(command).flatMap(optionWords),
    values: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  };
  const known = subcommands.filter((child) => command.commands.includes(child));
  return [own, ...known.flatMap((child) => commandWords(child, [...path, child.name()]))];
}

function optionWords(option: Option): OptionWord[] {
  const takes_value = option.required || option.optional;
  const values = option.argChoices ?? [];
  const words = [option.long, option.short].filter((word) => word !== undefined && word !== null);
  return words.map((word) => ({ word, about: option.description, takes_value, values }));
}

/** The command that scripts complete. `service` alone is a program of Debian, which has a completion script already. */
export const PROGRAM_NAME = 'agent-safety';

import type { Command } from 'commander';
import type { Static, TSchema } from 'typebox';
import type { Config } from '../../runtime/config/index.ts';
import type { ConfigRequest } from '../../runtime/policies/load-config.ts';
import type { ModelSettings } from '../model-backend.ts';
import type { Operation } from '../operation.ts';
import type { LocalRuntime } from '../runtime.ts';
import type { Terminal } from './terminal.ts';

/** Adds the options and the action of a command. */
export type DefineCommand = (command: Command, terminal: Terminal, ports: CommandPorts) => void;

/** A command in a list of commands. Its file is imported when the command is used. */
export interface CommandEntry {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Absent if all subcommands are derived from operation records. */
  readonly load?: () => Promise<DefineCommand>;
}

/** Subcommands of a command that another part of the program has. */
export interface CommandAddition {
  /** The name of that command. */
  readonly to: string;
  readonly load: () => Promise<DefineCommand>;
}

/** One feature's commands. */
export interface FeatureCommands {
  readonly commands?: readonly CommandEntry[];
  readonly additions?: readonly CommandAddition[];
  /** Loads the `audit` actions on evidence packs. */
  readonly loadPacks?: () => Promise<PackActions>;
  /** Loads the `audit` actions on logs in object storage. */
  readonly loadShipping?: () => Promise<ShippingActions>;
}

/** The `audit` actions on logs in object storage. An address is `s3://BUCKET/PREFIX`. */
export interface ShippingActions {
  /** Verifies the logs at an address and prints the result. Ends with 1 if one is broken. */
  readonly verifyShippedLog: (
    address: string,
    options: ShippedVerifyOptions,
    terminal: Terminal,
  ) => Promise<void>;
  /** Copies a log into a new folder. Without an address, that of the configuration counts. */
  readonly restoreLog: (
    address: string | undefined,
    options: RestoreOptions,
    terminal: Terminal,
    ports: CommandPorts,
  ) => Promise<void>;
  /** Closes and ships the files of a stopped service. */
  readonly shipLog: (options: ShipOptions, terminal: Terminal, ports: CommandPorts) => Promise<void>;
}

/** The `audit verify` options with an address. */
export interface ShippedVerifyOptions {
  readonly log?: string;
  readonly trustedKey?: string;
  readonly json?: true;
}

/** The `audit ship` options. */
export interface ShipOptions {
  readonly config?: string;
  readonly json?: true;
}

/** The `audit restore` options. */
export interface RestoreOptions extends ShipOptions {
  readonly to: string;
  readonly log?: string;
}

/** The `audit` actions on evidence packs. */
export interface PackActions {
  /** Makes an evidence pack from the configured state folder, and prints its contents. */
  readonly makeEvidencePack: (
    options: PackCommandOptions,
    terminal: Terminal,
    ports: CommandPorts,
  ) => Promise<void>;
  /** Verifies a pack and prints the result. Ends with 1 if it is broken. */
  readonly verifyEvidencePack: (
    pack: string,
    options: PackVerifyOptions,
    terminal: Terminal,
  ) => Promise<void>;
}

/** The `audit export` options with a pack. */
export interface PackCommandOptions {
  /** The file to write. */
  readonly pack: string;
  readonly framework?: string;
  readonly since?: string;
  readonly until?: string;
  readonly last?: string;
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

/** The `audit verify` options with a pack. */
export interface PackVerifyOptions {
  readonly publicKey?: string;
  readonly json?: true;
}

/** The parts in later layers and in features that commands call. */
export interface CommandPorts {
  /**
   * Reads the configuration: from `path`, otherwise from the environment or the current folder, otherwise the defaults.
   * @throws CommandFailure `invalid_configuration` with the problems
   */
  readonly loadConfig: (
    terminal: Terminal,
    path: string | undefined,
    secrets?: ConfigRequest['secrets'],
  ) => Promise<Config>;
  /** Calls an operation as the command-line user, in the service or in this process, as the operation needs it. */
  readonly runOperation: <Input extends TSchema, Output extends TSchema>(
    terminal: Terminal,
    configPath: string | undefined,
    operation: Operation<Input, Output>,
    input: Static<Input>,
  ) => Promise<Static<Output>>;
  /** Calls an operation in the running service; `null` if none runs. */
  readonly callService: <Input extends TSchema, Output extends TSchema>(
    config: Config,
    operation: Operation<Input, Output>,
    input: Static<Input>,
  ) => Promise<Static<Output> | null>;
  /** Opens a runtime in this process. */
  readonly openRuntime: (config: Config) => Promise<LocalRuntime>;
  /** Loads the actions on evidence packs. @throws CommandFailure if no feature has them */
  readonly loadPacks: () => Promise<PackActions>;
  /** Loads the actions on logs in object storage. @throws CommandFailure if no feature has them */
  readonly loadShipping: () => Promise<ShippingActions>;
  /** Requires a journal that this user can read. @throws CommandFailure */
  readonly requireJournal: (config: Config) => Promise<void>;
  /** Asks the configured model for one word. Returns an empty text, or the problem. */
  readonly probeModel: (settings: ModelSettings, env: NodeJS.ProcessEnv) => Promise<string>;
  /** Returns the coding agent with that name; `undefined` without one. */
  readonly findCodingAgent: (
    name: string,
  ) => Promise<{ readonly name: string; readonly label: string } | undefined>;
}

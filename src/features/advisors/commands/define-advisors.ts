import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandPorts } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printJson, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import {
  FRAMEWORK_IDS,
  type FrameworkId,
  findFrameworkId,
} from '../../../operations/compliance-frameworks.ts';
import type { Config } from '../../../runtime/config/index.ts';
import {
  prepareAutoConfig,
  prepareCompliance,
  prepareExplanation,
  prepareIntegration,
  prepareRecommendations,
} from '../advisory.ts';
import { STAGING_FOLDER } from '../artifact-files.ts';
import { findIntegrationTarget, INTEGRATION_TARGET_NAMES } from '../integration-targets.ts';
import { readProject } from '../read-project.ts';
import { type DeliveryOptions, deliverArtifacts, isSuccess, parseReason } from './deliver-artifacts.ts';
import { printAdvice } from './print-advice.ts';
import { type AdvisorOptions, runAdvisorCommand } from './run-advisor-command.ts';

type FileOptions = AdvisorOptions & DeliveryOptions;

/** Adds `intelligence auto-config`. */
export function defineAutoConfig(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = defineAdvisor(
    parent,
    'auto-config',
    'propose a configuration from the structure of a project',
    'Read the names of packages, imports, tools and agents of a Python or TypeScript project, and propose configuration, policies, contracts and identities. Only names are sent, never code.',
  ).option('--path <folder>', 'the project', '.');
  addFileOptions(command).action((options: FileOptions & { readonly path: string }) =>
    runAutoConfig(options, terminal, ports),
  );
  addExamples(command, [
    ['customshouse intelligence auto-config --path . --show-prompt', 'what would be sent'],
    ['customshouse intelligence auto-config --path .', 'stage a proposal'],
    ['customshouse intelligence auto-config --path . --apply', 'show the changes, and ask'],
  ]);
}

async function runAutoConfig(
  options: FileOptions & { readonly path: string },
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const root = resolve(terminal.cwd, options.path);
  const outline = await readProject(root);
  const question = ['auto-config', root] as const;
  const done = await runAdvisorCommand(question, options, terminal, ports, async (context, config) => {
    const { CONFIGURATION_NAMES } = await import('../../../runtime/policies/load-config.ts');
    const hasConfiguration = CONFIGURATION_NAMES.some((name) => existsSync(join(root, name)));
    const projectConfig = await readProjectConfig(root, config, terminal, ports);
    return prepareAutoConfig(
      { outline, has_configuration: hasConfiguration, config: projectConfig },
      context,
    );
  });
  if (done !== null) await deliverArtifacts(done, root, options, terminal, ports);
}

/** Returns the configuration of the project, or the defaults in its folder. @throws CommandFailure */
async function readProjectConfig(
  root: string,
  own: Config,
  terminal: Terminal,
  { loadConfig }: CommandPorts,
): Promise<Config> {
  if (own.origin.base_dir === root) return own;
  return loadConfig({ ...terminal, env: {}, cwd: root }, undefined, 'leave');
}

/** Adds `intelligence recommend`. */
export function defineRecommend(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = defineAdvisor(
    parent,
    'recommend',
    'propose policy changes from the totals of the audit log',
    'Find gaps, noisy rules, dead rules and rules that allow too much. Each proposal is compiled, linted and replayed against the recorded decisions.',
  ).option('--since <duration>', 'period before now', '7d');
  addFileOptions(command).action(async (options: FileOptions & { readonly since: string }) => {
    const question = ['recommend', options.since] as const;
    const done = await runAdvisorCommand(question, options, terminal, ports, (context) =>
      prepareRecommendations(options.since, context),
    );
    if (done !== null) await deliverArtifacts(done, done.config.origin.base_dir, options, terminal, ports);
  });
  addExamples(command, [
    ['customshouse intelligence recommend --since 7d', 'stage proposals from the last week'],
  ]);
}

/** Adds `intelligence explain`. */
export function defineExplain(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = defineAdvisor(
    parent,
    'explain',
    'explain one event',
    'Classify and explain one decision, from its metadata and that of up to five events of its session. `customshouse policy explain` shows the rules without a model.',
  )
    .argument('<event_id>', 'the event, `evt_...`')
    .action(async (eventId: string, options: AdvisorOptions) => {
      const done = await runAdvisorCommand(
        ['explain', eventId],
        options,
        terminal,
        ports,
        async (context) => {
          return prepareExplanation(eventId, context);
        },
      );
      if (done === null || !isSuccess(done.result, options, terminal)) return;
      if (options.json) printJson(terminal, done.result);
      else printAdvice(done.result, terminal);
    });
  addExamples(command, [['customshouse intelligence explain evt_0123456789abcdef01234567', '']]);
}

/** Adds `intelligence compliance`. */
export function defineComplianceAdvice(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = defineAdvisor(
    parent,
    'compliance',
    'propose a policy set for a compliance framework',
    'Read the compliance report of the active policy, and propose rules that close its gaps. The report of the proposal shows which controls would change.',
  ).addOption(
    new Option('--framework <name>', `the framework: ${FRAMEWORK_IDS.join(', ')}`)
      .argParser(parseFramework)
      .makeOptionMandatory(),
  );
  addFileOptions(command).action(async (options: FileOptions & { readonly framework: FrameworkId }) => {
    const question = ['compliance', options.framework] as const;
    const done = await runAdvisorCommand(question, options, terminal, ports, (context) =>
      prepareCompliance(options.framework, context),
    );
    if (done !== null) await deliverArtifacts(done, done.config.origin.base_dir, options, terminal, ports);
  });
  addExamples(command, [['customshouse intelligence compliance --framework hipaa', '']]);
}

function parseFramework(name: string): FrameworkId {
  const framework = findFrameworkId(name);
  if (framework !== null) return framework;
  throw new InvalidArgumentError(`The framework is one of ${FRAMEWORK_IDS.join(', ')}.`);
}

/** Adds `intelligence integrate`. */
export function defineIntegrate(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = defineAdvisor(
    parent,
    'integrate',
    'propose code that connects a project to this service',
    'Write code for an agent framework from the adapter that this program ships. The code is parsed and never run.',
  )
    .requiredOption('--target <framework>', INTEGRATION_TARGET_NAMES.join(', '))
    .option('--path <folder>', 'the project', '.');
  addFileOptions(command).action(
    async (options: FileOptions & { readonly target: string; readonly path: string }) => {
      const framework = findIntegrationTarget(options.target);
      if (framework === null) throw await explainUnknownTarget(options.target, ports);
      const root = resolve(terminal.cwd, options.path);
      const outline = await readProject(root);
      const question = ['integrate', framework.name, root] as const;
      const done = await runAdvisorCommand(question, options, terminal, ports, (context) =>
        prepareIntegration(framework, outline, context),
      );
      if (done !== null) await deliverArtifacts(done, root, options, terminal, ports);
    },
  );
  addExamples(command, [['customshouse intelligence integrate --target langchain --path .', '']]);
}

async function explainUnknownTarget(
  target: string,
  { findCodingAgent }: CommandPorts,
): Promise<CommandFailure> {
  const agent = await findCodingAgent(target.trim().toLowerCase());
  return new CommandFailure(EXIT.usage, 'usage', 'There is no adapter for this target.', {
    hint:
      agent === undefined
        ? `The targets are ${INTEGRATION_TARGET_NAMES.join(', ')}.`
        : `${agent.label} is a coding agent, which needs no code: \`customshouse setup ${agent.name}\` installs its hooks.`,
  });
}

function defineAdvisor(parent: Command, name: string, summary: string, description: string): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(description)
    .option('--show-prompt', 'print what would be sent, and send nothing')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption());
}

function addFileOptions(command: Command): Command {
  return command
    .option('--output-dir <folder>', 'the folder in which proposals are staged', STAGING_FOLDER)
    .option(
      '--apply',
      'show the changes, ask, and install them: the proposal that was staged last, or else a new one',
    )
    .option('-y, --yes', 'do not ask')
    .option(
      '--confirm-weaker <reason>',
      'apply a proposal that weakens the policy, and keep the reason',
      requireReason,
    );
}

function requireReason(text: string): string {
  const reason = parseReason(text);
  if (reason !== null) return reason;
  throw new InvalidArgumentError('Give a reason of at most 500 printable characters.');
}

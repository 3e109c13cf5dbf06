import { Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { askConsent, type Consent } from '../../../operations/cli-kit/consent.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import type { OpenPlan, Skill, SkillPlan } from '../../../runtime/skills/index.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { formatLessStrictPlaces, printSkillPlan } from './print-plan.ts';

export interface AddOptions extends Consent {
  readonly config?: string;
  readonly allowLessStrict?: true;
  readonly allowPlugins?: true;
}

/** Returns the options with which a user confirms an addition. */
export function buildConsentOptions(): readonly Option[] {
  return [
    new Option('-y, --yes', 'do not ask'),
    new Option('--allow-less-strict', 'accept a less strict policy; --yes alone does not'),
    new Option('--dry-run', 'show what would change, and change nothing'),
  ];
}

/** Returns the option with which a user confirms code. Templates contain no code. */
export function buildPluginOption(): Option {
  return new Option(
    '--allow-plugins',
    'allow its plug-ins to run, now and in the service; --yes alone does not',
  );
}

/** Adds the skill that a source names. `accept` may refuse one before anything is planned. */
export async function addSkill(
  source: string,
  options: AddOptions,
  terminal: Terminal,
  accept: (skill: Skill) => Promise<void> = async () => {},
): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { planToAdd, openSkill } = await import('../../../runtime/skills/index.ts');
  const skill = await openSkill(source, { cwd: terminal.cwd, env: terminal.env });
  await accept(skill);
  const askConsent = { plugins: options.allowPlugins === true };
  const open = await planToAdd(config, skill, getPackageVersion(), askConsent);
  try {
    await carryOut(skill, open, options, terminal);
  } finally {
    await open.close();
  }
}

async function carryOut(
  skill: Skill,
  { plan, carryOut }: OpenPlan,
  options: AddOptions,
  terminal: Terminal,
): Promise<void> {
  if (!options.json) {
    printLine(
      terminal,
      `${formatSkillName(plan)} (${escapeControls(plan.source)}): ${escapeControls(skill.description)}`,
    );
    printSkillPlan(plan, terminal);
  }
  const isPresent = isThere(plan);
  const goesOn = !isPresent && (await askForConsent(plan, options, terminal));
  if (goesOn) await carryOut();
  if (options.json) printJson(terminal, { ...plan, files: dropFileTexts(plan), done: goesOn });
  else
    printLine(
      terminal,
      `\n${isPresent ? 'It is there already; nothing was changed.' : formatEnding(plan, goesOn)}`,
    );
}

function formatSkillName({ name, version, replaces }: SkillPlan): string {
  const instead =
    replaces === null || replaces.version === version ? '' : `, in place of ${replaces.version}`;
  return `${name} ${version}${instead}`;
}

/** Returns whether the plan would write nothing at all, not even in the lock file. */
function isThere({ files, replaces, version, source }: SkillPlan): boolean {
  return files.changes.length === 0 && replaces?.version === version && replaces.source === source;
}

async function askForConsent(plan: SkillPlan, options: AddOptions, terminal: Terminal): Promise<boolean> {
  const lessStrict = plan.effect === null ? [] : formatLessStrictPlaces(plan.effect);
  if (lessStrict.length > 0 && options.yes && !options.allowLessStrict && !options.dryRun) {
    throw new CommandFailure(
      EXIT.no,
      'less_strict',
      'The new policy is less strict, so nothing was changed.',
      {
        details: lessStrict.map((message) => ({ path: '', message: message.trim() })),
        lines: lessStrict,
        hint: 'If this is intended, use --allow-less-strict.',
      },
    );
  }
  const question = lessStrict.length > 0 ? 'The new policy is less strict. Install it?' : 'Install it?';
  return askConsent(question, options, terminal);
}

function formatEnding({ name, files }: SkillPlan, done: boolean): string {
  if (!done) return 'Nothing was changed.';
  const count = formatCount(files.changes.length, 'file');
  return `Added ${name} (${count}). A running service reloads it within seconds. Commit skills.lock.`;
}

/** Returns the plan's files without their content. */
export function dropFileTexts({ files }: SkillPlan) {
  const { changes, kept, unchanged } = files;
  return { changes: changes.map(({ text: _, ...change }) => change), kept, unchanged };
}

import { askConsent, type Consent } from '../../../operations/cli-kit/consent.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { OpenPlan, SkillPlan } from '../../../runtime/skills/index.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { dropFileTexts } from './add.ts';
import { printSkillPlan } from './print-plan.ts';

export interface RemoveOptions extends Consent {
  readonly config?: string;
  readonly force?: true;
}

/** Removes a skill that was added. */
export async function removeSkill(name: string, options: RemoveOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { planToRemove } = await import('../../../runtime/skills/index.ts');
  const open = await planToRemove(config, name, options.force === true);
  try {
    await carryOut(open, options, terminal);
  } finally {
    await open.close();
  }
}

async function carryOut(
  { plan, carryOut }: OpenPlan,
  options: RemoveOptions,
  terminal: Terminal,
): Promise<void> {
  if (!options.json) printSkillPlan(plan, terminal);
  const goesOn = await askConsent(`Remove ${plan.name}?`, options, terminal);
  if (goesOn) await carryOut();
  if (options.json) printJson(terminal, { ...plan, files: dropFileTexts(plan), done: goesOn });
  else for (const line of formatEnding(plan, goesOn)) printLine(terminal, line);
}

function formatEnding({ name, files, emptied }: SkillPlan, done: boolean): string[] {
  if (!done) return ['', 'Nothing was changed.'];
  const kept = files.kept.map((path) => `Kept ${escapeControls(path)}, which was changed; it is yours now.`);
  const running =
    emptied.length === 0
      ? 'A running service reloads within seconds.'
      : 'A running service keeps the rules until its next start: no file of their kind is left, which may be a mistake.';
  return ['', `Removed ${name}. ${running}`, ...kept];
}

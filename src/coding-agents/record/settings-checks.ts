import type { SettingsFile } from './doctor.ts';
import { buildFailedCheck, type CheckSubject, type DoctorCheck } from './doctor-check.ts';
import { readMembers } from './json-members.ts';

/** Returns the subject of a check about a settings file, or about one event in it. */
export function buildFileSubject(
  codingAgent: string,
  { location }: SettingsFile,
  event: string | null = null,
): CheckSubject {
  return { coding_agent: codingAgent, scope: location.scope, file: location.path, event };
}

/** Checks the two switches that Claude Code introduced and other agents copied. */
export function checkDisableAllHooks(
  codingAgent: string,
  files: readonly SettingsFile[],
): readonly DoctorCheck[] {
  return files.flatMap((file) => {
    const members = readMembers(file.document);
    const subject = buildFileSubject(codingAgent, file);
    const checks: DoctorCheck[] = [];
    if (members.disableAllHooks === true && file.location.scope !== 'managed')
      checks.push(
        buildFailedCheck(
          'coding_agent.hooks_on',
          subject,
          '`disableAllHooks` switches all hooks off.',
          'Remove the key.',
        ),
      );
    if (members.allowManagedHooksOnly === true)
      checks.push(
        buildFailedCheck(
          'coding_agent.hooks_on',
          subject,
          '`allowManagedHooksOnly` makes the agent skip all hooks outside of the managed settings.',
          'Ask an administrator to install the hook in the managed settings.',
        ),
      );
    return checks;
  });
}

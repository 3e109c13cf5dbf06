import {
  buildFailedCheck,
  buildPassedCheck,
  buildWarningCheck,
  type DoctorCheck,
} from '../../../coding-agents/record/doctor-check.ts';
import type { OpenConfig } from './configuration.ts';

/**
 * Calls each classifier of a configuration with a fixed text. One that blocks on failure fails the check, because every
 * content that it applies to is blocked.
 */
export function checkClassifiers(
  { subject, opened }: OpenConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly DoctorCheck[]> {
  const configured = opened?.config.classifiers ?? [];
  return Promise.all(
    configured.map(async (settings) => {
      const { probeClassifier } = await import('../../../runtime/classifiers/probe-classifier.ts');
      const { name, on_failure } = settings;
      const failure = await probeClassifier(settings, env);
      if (failure === null)
        return buildPassedCheck(
          'config.classifier',
          subject,
          `The classifier \`${name}\` gives valid answers.`,
        );
      const remedy = 'Start it, and check its entry in `classifiers`.';
      const stated = `The classifier \`${name}\` does not work. ${failure}`;
      return on_failure === 'block'
        ? buildFailedCheck('config.classifier', subject, `${stated} What it applies to is blocked.`, remedy)
        : buildWarningCheck('config.classifier', subject, `${stated} The rules decide alone.`, remedy);
    }),
  );
}

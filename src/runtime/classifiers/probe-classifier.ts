import { countCodePoints } from '../../core/text/offsets.ts';
import { callClassifier } from './call-classifier.ts';
import { openClassifierClient, REASONS } from './classifiers.ts';
import type { ClassifierSettings } from './types.ts';

/** The text of a probe. */
const PROBE_TEXT = 'This text tests whether the classifier answers.';

/**
 * Calls a classifier with a fixed text. Returns `null` if its answer is valid, whatever it found, else a sentence that
 * names no address and no key.
 */
export async function probeClassifier(
  settings: ClassifierSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const client = openClassifierClient(settings, env);
  const request = {
    boundary: settings.boundaries[0]!,
    phase: settings.boundaries[0] === 'action' ? (settings.phases[0] ?? null) : null,
    tool: null,
    text: PROBE_TEXT,
    points_count: countCodePoints(PROBE_TEXT),
  };
  try {
    const { failure } = await callClassifier(settings, request, { client, env });
    return failure === null ? null : `It ${REASONS[failure]}.`;
  } finally {
    await client.close();
  }
}

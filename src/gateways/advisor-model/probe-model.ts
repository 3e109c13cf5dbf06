import { type ModelBackend, ModelFailure, type ModelSettings } from '../../operations/model-backend.ts';
import { openModelBackend } from './model-backend.ts';

const PROBE = 'Reply with the word ok.';

/** Asks the configured model for one word. Returns an empty text, or the problem. */
export async function probeModel(settings: ModelSettings, env: NodeJS.ProcessEnv): Promise<string> {
  let backend: ModelBackend | null = null;
  try {
    backend = openModelBackend(settings, env);
    await backend.ask([{ role: 'user', content: PROBE }], new AbortController().signal);
    return '';
  } catch (fault) {
    if (fault instanceof ModelFailure) return fault.message;
    throw fault;
  } finally {
    await backend?.close();
  }
}

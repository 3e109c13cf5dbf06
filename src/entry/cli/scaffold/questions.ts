import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { IntelligenceAnswer } from './configuration.ts';

/**
 * A backend in the menu. The user may change the address, and types the name of the model, because models change often.
 */
interface Backend {
  readonly label: string;
  readonly provider: IntelligenceAnswer['provider'];
  readonly base_url: string;
  readonly api_key_env: string | null;
}

function buildHostedBackend(label: string, baseUrl: string, apiKeyEnv: string): Backend {
  return { label, provider: 'compatible-api', base_url: baseUrl, api_key_env: apiKeyEnv };
}

const BACKENDS: readonly Backend[] = [
  {
    label: 'A model server on this machine (no key)',
    provider: 'local',
    base_url: 'http://localhost:11434',
    api_key_env: null,
  },
  buildHostedBackend('OpenAI', 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
  buildHostedBackend('Anthropic', 'https://api.anthropic.com/v1', 'ANTHROPIC_API_KEY'),
  buildHostedBackend(
    'Google Gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'GOOGLE_API_KEY',
  ),
  buildHostedBackend('Mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  buildHostedBackend('Groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  buildHostedBackend('Azure OpenAI', '', 'AZURE_OPENAI_API_KEY'),
  buildHostedBackend('Cohere', 'https://api.cohere.ai/compatibility/v1', 'COHERE_API_KEY'),
  buildHostedBackend('Together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  buildHostedBackend('Fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  buildHostedBackend('DeepSeek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  buildHostedBackend('Another service with a chat-completions API', '', ''),
];

/**
 * Asks about the advisory layer, which stays off by default.
 * @param isWanted preselects Yes
 * @returns `null` for no; Ctrl-C ends the command before any file is written
 */
export async function askIntelligence(isWanted: boolean): Promise<IntelligenceAnswer | null> {
  const { confirm, outro, select, text } = await import('@clack/prompts');
  const wanted = await awaitAnswer(
    confirm({
      message:
        'Turn on the advisory layer? It suggests rules and explains incidents with a model that you bring.',
      active: 'Yes',
      inactive: 'No',
      initialValue: isWanted,
    }),
  );
  if (!wanted) {
    outro('The advisory layer stays off.');
    return null;
  }
  const options = BACKENDS.map((backend, value) => ({ value, label: backend.label }));
  const backend =
    BACKENDS[await awaitAnswer(select({ message: 'Which backend?', options, initialValue: 0 }))]!;
  const model = await awaitAnswer(
    text({
      message: 'Which model?',
      placeholder: 'its name, as the backend’s own list of models writes it',
      validate: createFilledCheck('Name a model.'),
    }),
  );
  const baseUrl = await awaitAnswer(
    text({ message: 'At which address?', initialValue: backend.base_url, validate: checkWebAddress }),
  );
  const apiKeyEnv = backend.provider === 'local' ? '' : await askKeyVariable(backend);
  outro(
    apiKeyEnv === ''
      ? 'The advisory layer is on, without a key.'
      : `The advisory layer is on. The service reads the key from ${apiKeyEnv}; no file holds it.`,
  );
  return {
    provider: backend.provider,
    model: model.trim(),
    base_url: baseUrl.trim(),
    api_key_env: apiKeyEnv === '' ? null : apiKeyEnv,
  };
}

/** Returns the name of the variable that holds the key; empty for a backend without one. */
async function askKeyVariable(backend: Backend): Promise<string> {
  const { text } = await import('@clack/prompts');
  const name = await awaitAnswer(
    text({
      message: 'Which environment variable holds the key? (Its name, not the key; empty for none.)',
      initialValue: backend.api_key_env ?? '',
      validate: checkVariableName,
    }),
  );
  return (name ?? '').trim();
}

async function awaitAnswer<Answer>(question: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await question;
  if (typeof answer === 'symbol') {
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was written.');
  }
  return answer as Exclude<Answer, symbol>;
}

function createFilledCheck(sentence: string): (text: string | undefined) => string | undefined {
  return (text) => ((text ?? '').trim() === '' ? sentence : undefined);
}

function checkWebAddress(text: string | undefined): string | undefined {
  const url = URL.parse((text ?? '').trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return 'Give an address that begins with http:// or https://';
  return url.username || url.password ? 'Leave credentials out of the address.' : undefined;
}

function checkVariableName(text: string | undefined): string | undefined {
  const name = (text ?? '').trim();
  if (name === '' || /^[A-Z_][A-Z0-9_]{0,100}$/.test(name)) return undefined;
  return 'This is not a valid variable name. Use capitals, digits and underscores, and do not enter the key itself.';
}

import { CommandFailure, EXIT } from '../command-failure.ts';
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

function hosted(label: string, base_url: string, api_key_env: string): Backend {
  return { label, provider: 'compatible-api', base_url, api_key_env };
}

const BACKENDS: readonly Backend[] = [
  {
    label: 'A model server on this machine (no key)',
    provider: 'local',
    base_url: 'http://localhost:11434',
    api_key_env: null,
  },
  hosted('OpenAI', 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
  hosted('Anthropic', 'https://api.anthropic.com/v1', 'ANTHROPIC_API_KEY'),
  hosted('Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai', 'GOOGLE_API_KEY'),
  hosted('Mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  hosted('Groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  hosted('Azure OpenAI', '', 'AZURE_OPENAI_API_KEY'),
  hosted('Cohere', 'https://api.cohere.ai/compatibility/v1', 'COHERE_API_KEY'),
  hosted('Together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  hosted('Fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  hosted('DeepSeek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  hosted('Another service with a chat-completions API', '', ''),
];

/**
 * Asks about the advisory layer, which stays off by default.
 * @returns `null` for no; Ctrl-C ends the command before any file is written
 */
export async function askIntelligence(): Promise<IntelligenceAnswer | null> {
  const { confirm, intro, outro, select, text } = await import('@clack/prompts');
  intro('A new configuration');
  const wanted = await answered(
    confirm({
      message:
        'Turn on the advisory layer? It suggests rules and explains incidents with a model that you bring.',
      active: 'Yes',
      inactive: 'No',
      initialValue: true,
    }),
  );
  if (!wanted) {
    outro('The advisory layer stays off.');
    return null;
  }
  const options = BACKENDS.map((backend, value) => ({ value, label: backend.label }));
  const backend = BACKENDS[await answered(select({ message: 'Which backend?', options, initialValue: 0 }))]!;
  const model = await answered(
    text({
      message: 'Which model?',
      placeholder: 'its name, as the backend’s own list of models writes it',
      validate: filled('Name a model.'),
    }),
  );
  const base_url = await answered(
    text({ message: 'At which address?', initialValue: backend.base_url, validate: webAddress }),
  );
  const api_key_env = await answered(
    text({
      message: 'Which environment variable holds the key? (Its name, not the key; empty for none.)',
      initialValue: backend.api_key_env ?? '',
      validate: variableName,
    }),
  );
  outro('Noted: the key itself is read from the environment, and is written nowhere.');
  const key = (api_key_env ?? '').trim();
  return {
    provider: backend.provider,
    model: model.trim(),
    base_url: base_url.trim(),
    api_key_env: key === '' ? null : key,
  };
}

async function answered<Answer>(question: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await question;
  if (typeof answer === 'symbol') {
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was written.');
  }
  return answer as Exclude<Answer, symbol>;
}

function filled(sentence: string): (text: string | undefined) => string | undefined {
  return (text) => ((text ?? '').trim() === '' ? sentence : undefined);
}

function webAddress(text: string | undefined): string | undefined {
  const url = URL.parse((text ?? '').trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return 'Give an address that begins with https://';
  return url.username || url.password ? 'Leave credentials out of the address.' : undefined;
}

function variableName(text: string | undefined): string | undefined {
  const name = (text ?? '').trim();
  if (name === '' || /^[A-Z_][A-Z0-9_]{0,100}$/.test(name)) return undefined;
  return 'This is not a valid variable name. Use capitals, digits and underscores, and do not enter the key itself.';
}

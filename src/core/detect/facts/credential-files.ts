import { countSteps, createTextCache } from '../../steps.ts';
import { AGENT_TRACES } from '../agent-traces.ts';
import { expandBraces, type GlobSigns, hasWildcard, intersectsGlob, parseGlob } from './glob.ts';
import { listCanonicalPaths } from './path-form.ts';

/**
 * Files that hold keys, tokens, passwords or typed commands. `*` stands for any part of one name. An entry with
 * slashes names the last parts of a path; `/**` at its end covers a folder and all below it. Letter case is ignored.
 */
const CREDENTIAL_FILES: readonly string[] = [
  // Environment files of applications; their examples are excluded below.
  ...['.env', '.env.*', '.envrc', 'secret.env', 'secrets.env', 'prod.env', 'production.env', 'staging.env'],
  ...[
    'secret.{yaml,yml,json,env,toml}',
    'secrets.{yaml,yml,json,env,toml}',
    'credentials.{db,json,xml,yaml,yml}',
  ],
  // Private keys, key stores and password databases.
  ...[
    '*.pem',
    '*.key',
    '*.p12',
    '*.pfx',
    '*.jks',
    '*.keystore',
    '*.kdbx',
    '*.ovpn',
    '*.ppk',
    '*.agekey',
    '*.p8',
  ],
  ...[
    'id_{rsa,dsa,ecdsa,ed25519}*',
    '.ssh/id_*',
    '.ssh/identity',
    '.ssh/*key*',
    '.ssh',
    '.ssh/[*]',
    'master.key',
  ],
  ...[
    'ssh_host_*_key',
    'etc/ssl/private/**',
    '.gnupg/**',
    '.password-store/**',
    'sops/age/keys.txt',
    '.vault-token',
  ],
  // Clouds, clusters and infrastructure.
  ...['.aws', '.aws/{credentials,config}', '.aws/sso/cache/**', '.aws/cli/cache/**', '.azure/**', '.oci/**'],
  ...[
    '.config/gcloud/**',
    'application_default_credentials*',
    'access_tokens.db',
    'accesstokens.json',
    '.boto',
  ],
  ...[
    'msal_token_cache*',
    '.aliyun/config.json',
    '.bluemix/config.json',
    '.config/doctl/config.yaml',
    '.s3cfg',
  ],
  ...[
    '.config/hcloud/cli.toml',
    '.config/scw/config.yaml',
    '.config/linode-cli',
    '.mc/config.json',
    '.passwd-s3fs',
  ],
  ...[
    'service{-,_}account*.json',
    'serviceaccount*.json',
    '*{-,_}service{-,_}account*.json',
    '*firebase-adminsdk*.json',
  ],
  ...[
    'client_secret*.json',
    'serviceaccount',
    'serviceaccount/token',
    'run/secrets/**',
    'etc/kubernetes/*.conf',
  ],
  ...[
    '.kube',
    '.kube/config*',
    'kubeconfig',
    '*.kubeconfig',
    'admin.conf',
    'k3s/k3s.yaml',
    '.docker/config.json',
  ],
  ...[
    '.dockercfg',
    '.dockerconfigjson',
    'containers/auth.json',
    '*.tfstate',
    '*.tfstate.*',
    '.terraformrc',
    'terraform.rc',
  ],
  ...[
    '.terraform.d/credentials*',
    '.pulumi/credentials*',
    '.config/rclone/rclone.conf',
    '.cloudflared/*.json',
  ],
  ...[
    '.wrangler/config/*',
    '.fly/config.yml',
    '.config/netlify/config.json',
    '.netlify/config.json',
    '.heroku/**',
  ],
  ...[
    'com.vercel.cli/auth.json',
    '.vercel/auth.json',
    '.railway/config.json',
    '.supabase/access-token',
    '.ngrok2/ngrok.yml',
  ],
  ...[
    'ngrok/ngrok.yml',
    'configstore/firebase-tools.json',
    '.config/stripe/config.toml',
    '.modal.toml',
    '.sentryclirc',
  ],
  // Package registries, code hosts and tools of developers.
  ...[
    '.npmrc',
    '.pypirc',
    '.netrc',
    '_netrc',
    '.git-credentials',
    '.config/git/credentials',
    '.config/gh/hosts.{yml,yaml}',
  ],
  ...[
    '.config/hub',
    '.config/glab-cli/config.yml',
    '.config/github-copilot/*.json',
    '.cargo/credentials*',
    '.gem/credentials',
  ],
  ...[
    '.composer/auth.json',
    '.config/composer/auth.json',
    '.m2/settings*.xml',
    '.gradle/gradle.properties',
    'pypoetry/auth.toml',
  ],
  ...[
    '.jenkins/credentials*',
    'jenkins_home/secrets/**',
    '.config/op/**',
    '.config/bitwarden*/**',
    '.databrickscfg',
  ],
  ...[
    '.kaggle/kaggle.json',
    '.huggingface/token',
    'huggingface/token',
    '.snowsql/config',
    '.snowflake/*.toml',
    '.dbt/profiles.yml',
  ],
  // Coding agents and this service.
  ...AGENT_TRACES.credential_files,
  ...[
    '.service/{operator-token,agent-token,approval-link-key,memory-key,fingerprint-key,totp-key}',
    '.service/keys/**',
    '.service/store.db*',
  ],
  // Databases, mail and web servers.
  ...[
    '.pgpass',
    '.my.cnf',
    '.mylogin.cnf',
    '.htpasswd',
    '.msmtprc',
    '.fetchmailrc',
    '.smbcredentials',
    'wp-config.php',
  ],
  ...[
    'web.config',
    'unattend.xml',
    'sysprep.inf',
    'wpa_supplicant.conf',
    'system-connections/**',
    'etc/wireguard/*.conf',
  ],
  // Accounts of the system and memory of processes.
  ...[
    '{shadow,gshadow,shadow-,gshadow-}',
    'etc/{shadow,gshadow}*',
    'master.passwd',
    'sudoers',
    'etc/sudoers.d/**',
    'opasswd',
  ],
  ...[
    'etc/krb5.keytab',
    '*.keytab',
    'krb5cc_*',
    'ntds.dit',
    'config/{sam,system,security}',
    'proc/*/{environ,mem,maps}',
  ],
  // Browsers, wallets and key rings.
  ...[
    'login data',
    'login data for account',
    'cookies',
    'cookies.{sqlite,binarycookies}',
    'network/cookies',
    'logins.json',
  ],
  ...[
    'key3.db',
    'key4.db',
    'signons.sqlite',
    '*keychain*',
    'library/keychains/**',
    'keyrings/**',
    'kwalletd/**',
  ],
  ...['wallet.dat', '.ethereum/keystore/**', '.config/solana/id.json', '.electrum/wallets/**'],
  // Histories of typed commands.
  ...['.*_history', '.bash_sessions/**', '.zsh_sessions/**', 'consolehost_history.txt'],
];

/**
 * Names of examples, of documents, and of the public half of a key. `cert.pem` is not in the list, because
 * the guides of OpenSSL and Python keep the key in it.
 */
const PUBLIC =
  /(?:\.(?:example|sample|template|tmpl|tpl|dist|defaults?|schema|pub|md|rst|html|j2|erb|d\.ts|ts|js|mjs|py|go|rs|rb|java|cs)|(?:^|[/._-])(?:example|sample|template)\.(?:env|\w{2,10})|(?:^|[/._-])(?:public|pub|cacerts?|ca|ca-?bundle|ca-?certs?|ca-?certificates|(?:full)?chain|roots?|root-?ca|dhparams?)(?:[-_]?(?:key|cert))?\.(?:pem|key)|(?:^|\/)wp-config-sample\.php)$/;
/** Endings that ordinary files also have, so that `*.json` does not name a credential file. */
const ORDINARY_ENDING =
  /(?:\.(?:json|ya?ml|toml|xml|conf|db|env|txt|sqlite|properties|inf)|[.-]?config(?:\.php|json)?)$/;
/** Folders that also hold ordinary files. */
const ORDINARY_FOLDER = /^(?:\*|\.config|\.local|config|containers|etc|library|network|proc|run|share)$/;
/**
 * A glob names a file if it contains at least this many characters of the file's own name, and more than half
 * of them: `s*` and `*.git*` do not.
 */
const NAMED_UNITS_MIN = 2;
const NAMED_SHARE_MIN = 0.55;
const BRACES_MAX = 64;

interface Entry {
  readonly parts: readonly string[];
  /** The parts, as they are compared with a glob. */
  readonly names: readonly GlobSigns[];
  readonly covers_below: boolean;
  /**
   * The part of the path that distinguishes this file from others. Only its first `core_units` characters
   * count.
   */
  readonly core_part: number;
  readonly core_units: number;
  readonly named_units_min: number;
}

const ENTRIES: readonly Entry[] = CREDENTIAL_FILES.flatMap(
  (written) => expandBraces(written, BRACES_MAX)!,
).map((written) => {
  const coversBelow = written.endsWith('/**');
  const parts = (coversBelow ? written.slice(0, -3) : written).split('/');
  const corePart = Math.max(
    0,
    parts.findIndex((part) => !ORDINARY_FOLDER.test(part)),
  );
  const core = parts[corePart]!;
  const isFile = corePart === parts.length - 1 && core !== '.env';
  const own = isFile ? core.replace(ORDINARY_ENDING, '') : core;
  return {
    parts,
    names: parts.map(parseGlob),
    covers_below: coversBelow,
    core_part: corePart,
    core_units: own.length,
    named_units_min: Math.max(NAMED_UNITS_MIN, Math.round(own.replaceAll('*', '').length * NAMED_SHARE_MIN)),
  };
});

const PLAIN = new RegExp(
  `(?:^|[/\\s"'])(?:${ENTRIES.map(({ parts, covers_below }) => `${parts.map(buildPartSource).join('/')}${covers_below ? '(?:/.*)?' : ''}`).join('|')})(?:$|[\\s"'])`,
);

/** Returns the source of a pattern for one part of a path. In the table, `[*]` is the character itself. */
function buildPartSource(part: string): string {
  return part.replace(/\[\*\]|\*|[.+?^${}()|[\]\\]/g, (sign) => {
    if (sign === '[*]') return '\\*?';
    return sign === '*' ? '[^/\\s"\']{0,100}' : `\\${sign}`;
  });
}

/**
 * Returns whether a path or glob names a file that holds keys, tokens, passwords or typed commands.
 * Unknown variables in the path are left out.
 */
export function isCredentialPath(written: string): boolean {
  return listCanonicalPaths(written).some((path) => {
    const lower = path.toLowerCase();
    if (isCredential(lower)) return true;
    if (lower.includes('$') && isCredential(lower.replace(/\$(?:\w+|\{\w+\})/g, ''))) return true;
    // `host:.env`, `file=@.env`
    const tail = /[:@=]([^:@=]*)$/.exec(lower)?.[1];
    return tail !== undefined && isCredential(tail);
  });
}

/** Steps to compare a path with all entries: at each of its folders all of them are tried. */
const PATH_STEPS = 100;
const PATH_UNIT_STEPS = 25;

function isCredential(path: string): boolean {
  countSteps(PATH_STEPS + path.length * PATH_UNIT_STEPS);
  if (PUBLIC.test(path)) return false;
  return PLAIN.test(path) || (hasWildcard(path) && canMatch(path));
}

/** Returns whether a glob can name such a file. Scripts repeat the same globs. */
const canMatch = createTextCache(canMatchExpanded);

function canMatchExpanded(glob: string): boolean {
  const globs = expandBraces(glob, BRACES_MAX);
  // Ordinary work has fewer alternatives, and one of them may name any file.
  if (globs === null) return true;
  return globs.some((one) => {
    if (PUBLIC.test(one)) return false;
    if (!hasWildcard(one)) return PLAIN.test(one);
    const parts = one
      .replace(/(?:\*\*\/)+/g, '**/')
      .split('/')
      .slice(-GLOB_PARTS_MAX);
    countSteps(ENTRIES.length * (ENTRY_STEPS + parts.length));
    return ENTRIES.some((entry) => canMatchEntry(parts, entry));
  });
}

/** Steps to find that a glob writes out nothing of an entry. */
const ENTRY_STEPS = 20;
const PART_STEPS = 5;

/** The most parts of a glob that are compared, counted from its end. */
const GLOB_PARTS_MAX = 32;

function canMatchEntry(parts: readonly string[], entry: Entry): boolean {
  if (entry.parts.length > parts.length && !parts.includes('**')) return false;
  const last = parts.length - 1;
  for (let end = last; end >= (entry.covers_below ? 0 : last); end -= 1)
    if (endsWithEntry(parts, end, entry, entry.parts.length - 1)) return true;
  return false;
}

/**
 * Returns whether the parts up to `at` can end with the entry's parts up to `name`. `**` stands for any
 * number of parts, and names none.
 */
function endsWithEntry(parts: readonly string[], at: number, entry: Entry, name: number): boolean {
  if (name < 0) return true;
  if (at < 0) return false;
  countSteps(PART_STEPS);
  const isCore = name === entry.core_part;
  if (parts[at] === '**')
    return (
      endsWithEntry(parts, at - 1, entry, name) || (!isCore && endsWithEntry(parts, at, entry, name - 1))
    );
  const least = isCore ? entry.named_units_min : 0;
  return (
    intersectsGlob(parts[at]!, entry.names[name]!, isCore ? entry.core_units : 0, least) &&
    endsWithEntry(parts, at - 1, entry, name - 1)
  );
}

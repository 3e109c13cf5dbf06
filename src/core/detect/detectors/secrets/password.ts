import type { Detector } from '../../matching/detector.ts';
import { gradePassword } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';

const ANCHORS = [
  '(?i)password',
  '(?i)passwd',
  '(?i)passphrase',
  '(?i)(?<![A-Za-z])pwd',
  '(?i)[_-]pass',
  '(?i)(?<![A-Za-z])ps{1,2}w',
  '(?i)(?<![A-Za-z])pasw',
  '(?i)sqlpass[=:]',
  '(?i)dbpass[=:]',
  '(?i)passwort',
  '(?i)contrase[nñ]a',
];

/**
 * The word for a password and its suffixes in a name: `password2` and `passwordProd`, but not `password_hash`. `pass`
 * and `pwd` must end a word, because `needless_pass_by_value`, `pwDate` and `last_pass_time` mean something else.
 */
const NAME =
  '(?:password|passwd|passphrase|(?<![A-Za-z])p(?:ass?|ss?)w(?:or|r|o)?d(?![a-z])|(?:sql|db)pass(?=[=:])|pwd(?![a-z])|[_-]pass(?![a-z]|[_-](?:by|time|mode|through|fail|rate|count|thru|on|over|if|to|as))|passwort|contrase[nñ]a)' +
  '(?!s(?!:[^\\s"\'`[{:])[\\s"\'\\]]{0,4}(?:=>|[:=]))' +
  '(?![\\w-]{0,16}(?:hash|algo|argon|bcrypt|scrypt|pbkdf|encrypt|polic|reset|field|length|min|max|ur[li]|path|file|expir|rule|regex|type|label|hint|provider|manager|mgr|strength|verif|valid|require|enabled|attempt|placeholder))' +
  '[\\w-]{0,20}';
const QUOTE = '\\\\?["\'`]';
/**
 * A comma assigns only in a call whose first argument is a longer name than the word itself, because lists have
 * commas too.
 */
const ASSIGNS = '(?:=>|:=|={1,3}|!={1,2}|:|(?<=\\([ ]?["\'][\\w.-]{11,60}["\'][ ]?),|\\bis\\b)';
const QUOTED_VALUE = `(?:\\\\?["'\`\\]]){0,2}[ \\t]{0,4}${ASSIGNS}\\s{0,4}${QUOTE}(?<value>[^"'\`\\\\\\s]{4,128})${QUOTE}`;
/** The value ends before the next such name, so that text made of names is not scanned again from each name. */
const OPEN_VALUE =
  '[ \\t]{0,4}(?:=>|:=|=|:|\\bis\\b:?)[ \\t]{0,4}' +
  '(?<value>(?:(?!pass[\\w-]{0,12}[:=]|pwd[:=])[^"\'`\\\\\\s,;&|<>(){}[\\]]){4,128})(?![\\w.$]{0,40}[([])(?!["\'`])';
const KEY = /(?:password|passwd|passphrase|passwort|contrase[nñ]a|(?:^|[^a-z])(?:pwd|pass))\d{0,2}$/i;

export const password: readonly Detector[] = [
  {
    id: 'password.quoted',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description: 'A quoted value next to `password` or another word for it.',
    anchors: ANCHORS,
    // The rest of a name, in which words may repeat, is read again for each length.
    try_work: 64,
    pattern: new RegExp(NAME + QUOTED_VALUE, 'i'),
    validate: (value) => !isPlaceholder(value) && !isCode(value) && !isPath(value) && !isSetting(value),
    member: {
      key: KEY,
      validate: (value) =>
        value.length >= 4 && value.length <= 256 && !isPlaceholder(value.trim()) && !isSetting(value.trim()),
    },
    examples: {
      hits: [
        'password = "«correct-horse»"',
        '"db_password": "«hunter22»"',
        '{\\"password\\":\\"«tr0ub4dor»\\"}',
        "passwd => '«s3same!»'",
        'if (password !== "«Kx92-abQ#»")',
      ],
      misses: [
        'password = "changeme"',
        `password: "\${DB_PASSWORD}"`,
        'password = "<your-password>"',
        'password = "xxxxxxxx"',
        '"password": "string"',
        'password_hash_algorithm: "argon2id"',
        'put "/forgot-password" => "cms/sites/passwords#update"',
        'password: ""',
        'needless_pass_by_value = "allow"',
        'last_pass_time = "always"',
        '"pbkdf2-password": "^3.12.0"',
        '"check-password": "1.2.1"',
        "'passwords' => 'users'",
        "if (PASSWORD_ARGON2_PROVIDER === 'sodium')",
        '"password": "clientPassword"',
      ],
    },
  },
  {
    id: 'password.assigned',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description:
      'A value without quotes next to `password` or another word for it, if it is neither a word nor code.',
    anchors: ANCHORS,
    pattern: new RegExp(NAME + OPEN_VALUE, 'i'),
    validate: isOpenValue,
    examples: {
      hits: [
        'DB_PASSWORD=«hunter2!»',
        'SMTP_PASS=«k4ctus-Zaun»',
        'user=sa;Pwd=«Kx92-abQ»;',
        'password: «s3cretPa55»',
        'passwords:«Kx92-abQ#»',
        'PSWD:=«Kx92-abQ7»',
        'MYSQLPASS: «Kx92abQ7_z»',
        'password:«!Kx92abQ7»',
        'the password is «Tr0ub4dor&3»'.replace('&3', ''),
      ],
      misses: [
        'password = process.env.DB_PASSWORD1',
        'password: must contain 8 characters',
        'password = user_input',
        'password: !vault',
        'password: !Ref DatabasePassword1',
        'pswd_count: 12345',
        'snowflake.password=\njdbc.snowflake.url=1',
        'SMTP_PASSIVE=1234abc',
        'password=changeme1',
        'password: ********',
        'password is required',
        'password_hash = hash(password1)',
        'pub pw_passwd: *mut c_char,',
        'pwDate: *mut u16,',
        'log_passwd: __u32,',
        'Password: b64Pwd,',
        'password: get2Password(x)',
        '--smtp-pass= --smtp-host=mail1',
        'root_password_uri: gs://bucket/password.1',
      ],
    },
  },
  {
    id: 'password.environment',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description:
      'The whole value of an environment variable named for a password: `DB_PASSWORD=...` to the next blank.',
    anchors: ['PASSWORD=', 'PASSWD=', '_PASS=', '_PASSPHRASE='],
    pattern:
      /(?:PASSWORD|PASSWD|_PASS|_PASSPHRASE)=(?<value>(?:(?!PASS[A-Z]{0,6}=)[^\s"'`\\]){6,128})(?!["'`])/,
    validate: isOpenValue,
    examples: {
      hits: ['DB_PASSWORD=«x7&kd(92)!q»\nPORT=1', 'SMTP_PASS=«;9Kd,2m|s»'],
      misses: [
        `DB_PASSWORD=\${OTHER1}`,
        'PASSWORD=$(cat /run/secret1)',
        'PASSWORD=changeme',
        'Password=abc123;',
      ],
    },
  },
  {
    id: 'password.default_value',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description: `The value that a shell uses if the variable of a password is not set: \`\${DB_PASSWORD:-...}\`.`,
    anchors: ['PASSWORD:?-', 'PASSWD:?-', '_PASS:?-', '_PASSPHRASE:?-'],
    pattern: /(?:PASSWORD|PASSWD|_PASS|_PASSPHRASE):?-(?<value>[^\s"'`\\{}$]{6,128})\}/,
    validate: isOpenValue,
    examples: {
      hits: [`DB_PASSWORD=\${DB_PASSWORD:-«Zk7vQ2mpX91»}`, `x=\${SMTP_PASS-«k4ctus-Zaun»}`],
      misses: [
        `\${DB_PASSWORD:-changeme}`,
        `\${DB_PASSWORD:-}`,
        `\${DB_PASSWORD:-$OTHER1}`,
        `\${DB_PASSWORD:-secret}`,
      ],
    },
  },
];

/**
 * Returns whether a value is a type, a call, a name or a selector, as in `"password": "string | null"` or `password:
 * str`.
 */
function isCode(value: string): boolean {
  return (
    /^(?:str|string|text|varchar|char|bool|boolean|int|any|object|bytes|null|none)\b/i.test(value) ||
    /^[*&]{1,3}(?:mut|const)?\b|^_*[ui](?:8|16|32|64|128|size)$|^(?:c|w)?_?\w{0,12}char\b|^\w{1,30}_t\b/i.test(
      value,
    ) ||
    /\($/.test(value) ||
    /^[#.][a-z][\w-]*$/i.test(value)
  );
}

/**
 * Returns whether a value is a package version, a lint level or the name of a setting. Such values follow names that
 * only contain the word.
 */
function isSetting(value: string): boolean {
  return (
    /^(?:workspace:|npm:|file:|link:)?[\^~<>=v]{0,3}\d{1,4}\.(?:\d{1,5}|[x*])(?:\.(?:\d{1,7}|[x*]))?(?:[-+.][\w.-]{1,30})?$/.test(
      value,
    ) ||
    SETTINGS.has(value.toLowerCase()) ||
    /^[a-z]{2,20}(?:[A-Z][a-z]{1,20}){0,4}(?:Password|Passwd|Key|Token|Secret|Name)$/.test(value)
  );
}

const SETTINGS = new Set(
  'allow always auto bcrypt deny disabled enabled error forbid latest never off optional required warn warning'.split(
    ' ',
  ),
);

function isPath(value: string): boolean {
  return /^\.{0,2}\/[\w.@-]+(?:\/|$)|^[\w-]+(?:\/[\w-]+){2,}(?:#\w+)?$/.test(value);
}

/**
 * Returns whether an unquoted value can be a password. It must contain a digit or a sign, because a plain word is
 * prose or a variable.
 */
function isOpenValue(value: string): boolean {
  const core = value.replace(/[.:!?]+$/, '');
  if (core.length < 4 || isPlaceholder(core) || isCode(core) || isPath(core) || isSetting(core)) return false;
  if (/^[\w.$-]+$/.test(core) && !/\d/.test(core)) return false;
  // A flag, an address without a password, or a variable named after its content.
  if (
    /^--?[a-z]|^[a-z][a-z0-9+.-]{1,20}:\/\/[^@]*$|^\w*(?:pwd|passwd|password|pass|secret|token)\d{0,2}$/i.test(
      core,
    )
  )
    return false;
  return /\d|[!#%^*+?~@/=]/.test(core) && !/^[A-Za-z_]\w*(?:\.\w+)+$|^\d+(?:\.\d+)*$|^[/.]/.test(core);
}

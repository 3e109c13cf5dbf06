import type { Detector } from '../../matching/detector.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';

const ANCHORS = [
  '(?i)password',
  '(?i)passwd',
  '(?i)passphrase',
  '(?i)(?<![A-Za-z])pwd',
  '(?i)[_-]pass',
  '(?i)passwort',
  '(?i)contrase[nñ]a',
];

/** The word, and what may follow it in a name: `password2`, `passwordProd`, but not `password_hash`. */
const NAME =
  '(?:password|passwd|passphrase|pwd|[_-]pass(?![a-z])|passwort|contrase[nñ]a)' +
  '(?![\\w-]{0,16}(?:hash|algo|encrypt|polic|reset|field|length|min|max|url|path|file|expir|rule|regex|type|label|hint))' +
  '[\\w-]{0,20}';
const QUOTE = '\\\\?["\'`]';
/** A comma assigns only in a call whose first argument is a name with more than the word: lists have commas too. */
const ASSIGNS = '(?:=>|:=|={1,3}|:|(?<=\\([ ]?["\'][\\w.-]{11,60}["\'][ ]?),|\\bis\\b)';
const QUOTED_VALUE = `(?:\\\\?["'\`\\]]){0,2}[ \\t]{0,4}${ASSIGNS}\\s{0,4}${QUOTE}(?<value>[^"'\`\\\\\\s]{4,128})${QUOTE}`;
/** It ends before the next such name, so that text made of names is not walked again from each of them. */
const OPEN_VALUE =
  '[ \\t]{0,4}(?:=>|:=|=|:|\\bis\\b:?)[ \\t]{0,4}' +
  '(?<value>(?:(?!pass[\\w-]{0,12}[:=]|pwd[:=])[^"\'`\\\\\\s,;&|<>(){}[\\]]){4,128})(?![(["\'`])';
const KEY = /(?:password|passwd|passphrase|passwort|contrase[nñ]a|(?:^|[^a-z])(?:pwd|pass))\d{0,2}$/i;

export const password: readonly Detector[] = [
  {
    id: 'password.quoted',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'critical',
    strength: 'cue',
    description: 'A quoted value beside `password` or another word for it.',
    anchors: ANCHORS,
    pattern: new RegExp(NAME + QUOTED_VALUE, 'i'),
    validate: (value) => !isPlaceholder(value) && !isCode(value) && !isPath(value),
    member: {
      key: KEY,
      validate: (value) => value.length >= 4 && value.length <= 256 && !isPlaceholder(value.trim()),
    },
    examples: {
      hits: [
        'password = "«correct-horse»"',
        '"db_password": "«hunter22»"',
        '{\\"password\\":\\"«tr0ub4dor»\\"}',
        "passwd => '«s3same!»'",
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
      ],
    },
  },
  {
    id: 'password.assigned',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'critical',
    strength: 'cue',
    description:
      'A value without quotes beside `password` or another word for it, when it is no word and no code.',
    anchors: ANCHORS,
    pattern: new RegExp(NAME + OPEN_VALUE, 'i'),
    validate: isOpenValue,
    examples: {
      hits: [
        'DB_PASSWORD=«hunter2!»',
        'SMTP_PASS=«k4ctus-Zaun»',
        'user=sa;Pwd=«Kx92-abQ»;',
        'password: «s3cretPa55»',
        'the password is «Tr0ub4dor&3»'.replace('&3', ''),
      ],
      misses: [
        'password = process.env.DB_PASSWORD1',
        'password: must contain 8 characters',
        'password = user_input',
        'snowflake.password=\njdbc.snowflake.url=1',
        'SMTP_PASSIVE=1234abc',
        'password=changeme1',
        'password: ********',
        'password is required',
        'password_hash = hash(password1)',
      ],
    },
  },
  {
    id: 'password.environment',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'critical',
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
];

/** A type, a call, a name or a selector, as in `"password": "string | null"` or `password: str`. */
function isCode(value: string): boolean {
  return (
    /^(?:str|string|text|varchar|char|bool|boolean|int|any|object|bytes|null|none)\b/i.test(value) ||
    /\($/.test(value) ||
    /^[#.][a-z][\w-]*$/i.test(value)
  );
}

function isPath(value: string): boolean {
  return /^\.{0,2}\/[\w.@-]+(?:\/|$)|^[\w-]+(?:\/[\w-]+){2,}(?:#\w+)?$/.test(value);
}

/** Without quotes a plain word is prose or a variable: a digit or a sign must be in it. */
function isOpenValue(value: string): boolean {
  const core = value.replace(/[.:!?]+$/, '');
  if (core.length < 4 || isPlaceholder(core) || isCode(core) || isPath(core)) return false;
  if (/^[\w.$-]+$/.test(core) && !/\d/.test(core)) return false;
  return /\d|[!#%^*+?~@/=]/.test(core) && !/^[A-Za-z_]\w*(?:\.\w+)+$|^\d+(?:\.\d+)*$|^[/.]/.test(core);
}

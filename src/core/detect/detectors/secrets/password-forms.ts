import type { Detector } from '../../matching/detector.ts';
import { gradePassword, gradePlacedPassword, isStrongPassword } from '../../matching/grade-secret.ts';
import { isCodeName, isPlaceholder } from '../../matching/placeholders.ts';

const QUOTED =
  '(?:"(?<value>[^"\\\\\\n]{4,128})"|\'(?<value2>[^\'\\\\\\n]{4,128})\'|`(?<value3>[^`\\\\\\n]{4,128})`)';

interface Form {
  readonly id: string;
  readonly description: string;
  readonly anchors: readonly string[];
  readonly pattern: RegExp;
  readonly strength?: Detector['strength'];
  readonly validate: (value: string) => boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** Builds a detector: `shape` for a place that is only for passwords, and `cue` for a word before a value. */
function buildPasswordDetector({ id, strength = 'cue', hits, misses, ...rest }: Form): Detector {
  return {
    id,
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: strength === 'shape' ? 'critical' : 'high',
    grade: strength === 'shape' ? gradePlacedPassword : gradePassword,
    strength,
    try_work: 96,
    examples: { hits, misses },
    ...rest,
  };
}

function isValue(value: string): boolean {
  return !isPlaceholder(value) && !/^[A-Za-z ]+$/.test(value);
}

/** Passwords in typed declarations, fallbacks, SQL statements and options of programs. */
export const passwordForms: readonly Detector[] = [
  buildPasswordDetector({
    id: 'password.typed',
    description: 'A quoted value of a declaration with a type: `val password: String = "..."`.',
    anchors: [
      '(?i)password ?: ?[A-Za-z]',
      '(?i)passwd ?: ?[A-Za-z]',
      '(?i)secret ?: ?[A-Za-z]',
      '(?i)token ?: ?[A-Za-z]',
    ],
    pattern: new RegExp(
      `(?:passw(?:or)?d|secret|token) ?: ?&?[A-Za-z][\\w.<>?!]{0,30}(?:\\[[\\w., ]{1,30}\\])? ?= ?${QUOTED}`,
      'i',
    ),
    validate: isStrongPassword,
    hits: ['val password: String = "«k4ctus-Zaun»"', 'password: Final[str] = "«k4ctus-Zaun»"'],
    misses: ['password: string = "changeme"', 'password: str = Field("the password")'],
  }),
  buildPasswordDetector({
    id: 'password.fallback',
    description:
      'The value that a look-up of the environment falls back to: `getenv("PASSWORD", "...")`, `... or "..."`.',
    anchors: ['(?i)password["\']', '(?i)secret["\']', '(?i)_pass["\']', '(?i)env\\.[a-z_]{0,8}password'],
    pattern: new RegExp(
      `(?:(?<=(?:env|environ|config|get)[\\w.]{0,20}[([]["']\\w{0,40})(?:password|secret|_pass)["'][\\])]?(?:, ?|[)\\]]{0,2} (?:or|\\|\\||\\?\\?|\\?:) )|(?<=process\\.)env\\.[a-z_]{0,8}password\\w{0,20} (?:\\|\\||\\?\\?) )${QUOTED}`,
      'i',
    ),
    validate: isStrongPassword,
    hits: ['os.environ.get("PASSWORD") or "«k4ctus-Zaun»"', 'os.getenv("DB_PASSWORD", "«k4ctus-Zaun»")'],
    misses: ['os.environ.get("PASSWORD") or "changeme"', 'os.getenv("PASSWORD", "")'],
  }),
  buildPasswordDetector({
    id: 'password.fallback_of_name',
    description: 'The same where only the variable that gets the value is named for a password.',
    anchors: ['(?i)getenv\\(["\']', '(?i)environ\\.get\\(["\']'],
    pattern: new RegExp(
      `(?<=(?:passw(?:or)?d|secret|token)\\w{0,20} ?:?= ?(?:os\\.)?)(?:getenv|environ\\.get)\\(["'][\\w.-]{1,60}["'], ?${QUOTED}`,
      'i',
    ),
    validate: (value) => /^\S+$/.test(value) && /\d/.test(value) && !isPlaceholder(value),
    hits: [
      'db_password = os.getenv("DB_PW", "«k4ctus-Zaun»")',
      'if SECRET := getenv("DB_PW", "«K4CTUSZAUN»"):',
    ],
    misses: ['db_password = os.getenv("DB_PW", "changeme")', 'db_host = os.getenv("DB_PW", "k4ctus-Zaun")'],
  }),
  buildPasswordDetector({
    id: 'password.curl_option',
    strength: 'shape',
    description:
      'Passwords in options of libcurl: `CURLOPT_PASSWORD`, and behind the user in `CURLOPT_USERPWD`.',
    anchors: ['CURLOPT_PASSWORD', 'CURLOPT_PROXYPASSWORD', 'CURLOPT_USERPWD', 'CURLOPT_PROXYUSERPWD'],
    pattern:
      /CURLOPT_(?:PROXY)?(?:PASSWORD\s?(?:,|=>)\s{0,4}["'](?<value>[^"'\n]{4,128})["']|USERPWD\s?(?:,|=>)\s{0,4}["'][^"':\n]{1,64}:(?<value2>[^"'\n]{4,128})["'])/,
    validate: (value) => !isPlaceholder(value),
    hits: [
      'curl_easy_setopt(curl, CURLOPT_PASSWORD, "«k4ctus-Zaun»");',
      'curl_setopt($ch, CURLOPT_USERPWD, "ada:«k4ctus-Zaun»");',
    ],
    misses: ['curl_easy_setopt(curl, CURLOPT_PASSWORD, password);', 'CURLOPT_USERPWD, "user:password"'],
  }),
  buildPasswordDetector({
    id: 'password.sql_unquoted',
    description: 'The password of a user in SQL without quotes, as Oracle has it: `IDENTIFIED BY ...;`.',
    anchors: ['(?i)identified by ', '(?i)login password '],
    pattern:
      /(?:identified by|login password) (?<value>(?=[A-Za-z_#$]{0,40}\d)[A-Za-z][\w#$]{5,40})(?=\\?;|\s{0,4}$|\s{1,4}(?:default|account|profile|password|container)\b)/i,
    validate: (value) => !isPlaceholder(value),
    hits: [
      'CREATE USER app IDENTIFIED BY «K4ctusZaun9»;',
      'CREATE ROLE a WITH LOGIN PASSWORD «K4ctusZaun9»;',
    ],
    misses: ['identified by number 12', 'IDENTIFIED BY VALUES;', 'the row is identified by row1_id in both'],
  }),
  buildPasswordDetector({
    id: 'password.sql',
    strength: 'shape',
    description: 'The password of a user in SQL: `IDENTIFIED BY`, and `WITH PASSWORD` of a role or a login.',
    anchors: ['(?i)identified ', '(?i)with password', '(?i)encrypted password', '(?i)login password'],
    pattern:
      /(?:identified (?:with ["']?[\w.-]{1,40}["']? )?(?:by|as) (?:password )?|(?:with|encrypted|login) password ?=? ?)N?(?:'(?<value>[^'\n]{4,128})'|"(?<value2>[^"\n]{4,128})")/i,
    validate: (value) => !isPlaceholder(value),
    hits: [
      "CREATE USER 'app'@'%' IDENTIFIED BY '«k4ctus-Zaun»';",
      "CREATE LOGIN app WITH PASSWORD = N'«k4ctusZaun9»';",
    ],
    misses: ["IDENTIFIED BY 'password'", "ALTER ROLE a WITH PASSWORD '$PASS'", 'identified by "<password>"'],
  }),
  buildPasswordDetector({
    id: 'password.option',
    strength: 'shape',
    description:
      'The value of an option for a password: `--password ...`, `-Password ...`, `ConvertTo-SecureString "..."`.',
    anchors: [
      '(?i)--?password ',
      '(?i)--?passwd ',
      '(?i)--passphrase ',
      '(?i)securestring ["\']',
      '(?i)securestring -string',
      '(?i)securestring -force',
      '(?i)securestring -asplaintext',
      '--oauth2-bearer ',
    ],
    pattern:
      /(?:--?(?:password|passwd|passphrase|oauth2-bearer) |(?<=convertto-)securestring (?:-(?:string|force|asplaintext) ){0,3})(?:"(?<value>[^"$\n]{4,128})"|'(?<value2>[^'$\n]{4,128})'|(?<value3>(?=[^\s]{0,40}\d)[^\s"'`$<>|;&(){}[\]\\-][^\s"'`<>|;&(){}[\]\\]{5,127}))/i,
    validate: isValue,
    hits: [
      'mytool --user ann --password «k4ctusZaun9»',
      'ConvertTo-SecureString "«k4ctus-Zaun»" -AsPlainText -Force',
      'ConvertTo-SecureString -AsPlainText -Force -String «k4ctus#Zaun9»',
      'curl --oauth2-bearer "«k4ctusZaun9»" https://host.test/',
    ],
    misses: [
      'mytool --password $PASS1',
      'use --password to set it',
      '--password <password1>',
      '--password -p1',
    ],
  }),
  buildPasswordDetector({
    id: 'password.short_name',
    description: 'A strong value next to `pw:` or `pass:`, as people write them in notes.',
    anchors: ['(?i)(?<![A-Za-z0-9.-])pw ?:?[:=]', '(?i)(?<![A-Za-z0-9_.-])pass ?[:=]'],
    pattern:
      /(?:(?<![^\s([{/,;"'|_>])pw ?(?::=|[:=])|(?<![^\s([{/,;"'|>])pass ?[:=]) ?["']?(?<value>[^\s"'`<>()[\]{},;]{8,64})(?![^\s"')\],;.])/i,
    validate: (value) => isStrongPassword(value) && /\d/.test(value) && !isCodeName(value),
    hits: [
      'pw: «k4ctus#Zaun9»',
      'ssh ann@10.0.0.7 (pw:«k4ctus#Zaun9»)',
      'user:master pass:«k4ctus%Zaun9»',
      '10.0.0.7 (ID/PW:«Kx9aBqZt»)',
      'PW:=«Kx9aBqZt77»',
    ],
    misses: [
      'pass: 12 tests',
      'pass = pass + 1',
      'pw: changeme!1',
      'a.pass: k4ctus#Zaun9',
      'M[@%]PW:2Z.Q?2M^S;`4G?E0C.@V&?0KY',
      'pass: RenderPass1Stage',
    ],
  }),
  {
    id: 'django.secret_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.django'],
    severity: 'critical',
    grade: (value) => (value.startsWith('django-insecure-') ? 'medium' : 'critical'),
    strength: 'shape',
    description:
      'The secret key of a Django project: 50 of its 50 signs, or `django-insecure-` and as many, which `startproject` makes.',
    anchors: ['SECRET_KEY'],
    pattern:
      /SECRET_KEY["']? ?[=:] ?["']?(?<value>(?:django-insecure-)?[a-z0-9!@#$%^&*(\-_=+)]{50})(?![\w!@#$%^&*(\-=+)])/,
    validate: (value) => /[!@#$%^&*(+)]/.test(value),
    examples: {
      hits: [`SECRET_KEY = '«${'9!dn3ixkz+ysqjp+3ba)93'}${'utkypd#c3sijc@ao@1ve_#=lnu%n'}»'`],
      misses: ["SECRET_KEY = 'changeme'", "SECRET_KEY = os.environ['SECRET_KEY']"],
    },
  },
  {
    id: 'generic.uuid_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key'],
    severity: 'high',
    strength: 'cue',
    description:
      'A UUID straight behind a name that ends in `api_key`, `token` or `secret`, and in nothing that is public.',
    anchors: [
      '(?i)api[_-]?key["\']?[ :=]',
      '(?i)_token["\']?[ :=]',
      '(?i)_secret["\']?[ :=]',
      '(?i)secret[_-]key["\']?[ :=]',
    ],
    pattern:
      /(?<!(?:client|continuation|grant|next|page|csrf|xsrf|sync|request|idempotency|public)[_-]?)(?:api[_-]?key|_token|_secret|secret[_-]key)["']? ?[:=] ?["']?(?<value>[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?![\w-])/i,
    validate: (value) => !/^(.)\1{7}|12345678|deadbeef/i.test(value),
    examples: {
      hits: [
        'ACME_API_TOKEN=«85f722ad-f894-46ca-aa06-93e3492b38e9»',
        'hec_token = "«824bbf29-731b-4df8-a0ef-db5000e297cf»"',
      ],
      misses: [
        'page_token = "85f722ad-f894-46ca-aa06-93e3492b38e9"',
        'request_id = "85f722ad-f894-46ca-aa06-93e3492b38e9"',
        'acme_token: 00000000-0000-4000-8000-000000000000',
      ],
    },
  },
];

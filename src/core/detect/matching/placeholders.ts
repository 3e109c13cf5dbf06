/**
 * Returns whether a value is a placeholder for a secret: `changeme`, `<your-key>`, `${VAR}`, `process.env.KEY`,
 * `xxxx`. Used by detectors that find a value by the word next to it, never by those that match a vendor's form.
 */
export function isPlaceholder(value: string): boolean {
  return (
    WORDS.has(value.toLowerCase().replace(/[^a-z]/g, '')) ||
    REFERENCE.test(value) ||
    EXAMPLE.test(value) ||
    hasFewCharacters(value)
  );
}

/**
 * Returns whether the value is stored elsewhere or is yet to be filled in. Unlike `isPlaceholder`, this also holds
 * next to a vendor's name, where `abcdef1234567890` is a value like any other.
 */
export function isReference(value: string): boolean {
  return (
    WORDS.has(value.toLowerCase().replace(/[^a-z]/g, '')) ||
    REFERENCE.test(value) ||
    TO_FILL_IN.test(value) ||
    hasFewCharacters(value)
  );
}

/** Returns whether the value is made of words: a path, a host, a version, a date, `names-like_this-2`. */
export function isWordLike(value: string): boolean {
  return (
    /^(?:[a-z]{2,}\d{0,2}[_./:-])+(?:[a-z]*\d{0,3}|\d{4,12}|\d+(?:\.\d+)+)$/i.test(value) ||
    /^(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d+)?$|^[a-z]+(?:-[a-z]+)*-\d+(?:\.\d+)+$/.test(value) ||
    /^\d{4}-\d\d-\d\d|^\d+(?:\.\d+)+/.test(value) ||
    /^(?:[A-Z]{2,}\d{0,4}[_-])+[A-Z]*\d{0,4}$/.test(value) ||
    isFilePath(value)
  );
}

/**
 * Returns whether a value is made of words, versions and dates, as names of models, packages and releases are:
 * `claude-3-5-sonnet-20241022`, `text-embedding-3-large`. Linear.
 */
export function isMadeOfWords(value: string): boolean {
  const parts = value.split(/[-_./:@+=,]+/).filter((part) => part !== '');
  if (parts.length < 2) return false;
  let inWords = 0;
  for (const part of parts) {
    if (PLAIN_WORD.test(part) && (part.length <= WORD_UNITS_MIN || /[aeiouy]/i.test(part)))
      inWords += part.length;
    else if (!VERSION_OR_DATE.test(part)) return false;
  }
  return inWords > 0 && inWords * WORDS_SHARE >= value.replace(/[^A-Za-z]/g, '').length;
}

/** At least one third of the letters of a value made of words is in the words. */
const WORDS_SHARE = 3;
const PLAIN_WORD = /^(?:[A-Za-z]?[a-z]{0,20}(?:[A-Z][a-z]{1,20}){0,3}|[A-Z]{1,20}s?)$/;
const VERSION_OR_DATE = /^(?:v?\d{1,5}[a-z]{0,2}|\d{6,20}|[a-z]{1,12}\d{1,3}[a-z]?|\d{1,3}x\d{1,3}[a-z]?)$/i;

/**
 * Returns whether a value is an assignment itself, as after the name of another variable:
 * `http_client=httpx2.Client`.
 */
export function holdsAssignment(value: string): boolean {
  return /^[A-Za-z_][A-Za-z_-]{1,40}\d?=(?![=]|$)|^[A-Za-z_$][\w$]{0,30}\.[A-Za-z_$][\w$]{0,40}=(?!=|$)/.test(
    value,
  );
}

function isFilePath(value: string): boolean {
  return /^\.{0,2}\//.test(value) || (value.includes('/') && /\.[a-z]\w{0,4}$/i.test(value));
}

/** Words of a name are longer than the letter runs of random text. */
const WORD_UNITS_MIN = 3;

/**
 * Returns whether a value is a name in code (`cryptography.x509.Certificate`, `Ed25519PrivateKey`,
 * `chain_Anvil2_Key`): words, and few numbers.
 */
export function isCodeName(value: string): boolean {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(value) || !/[._]|[a-z][A-Z]/.test(value)) return false;
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  return letters >= words.length * WORD_UNITS_MIN && (value.match(/\d+/g)?.length ?? 0) <= 3;
}

/** The mean length of the words of a name in code. Letter runs of random text have less than two units. */
const NAME_WORD_UNITS_MIN = 4;
const NAME_WORD_UNITS_MAX = 18;

/** Returns whether the letters of a value are long words, as in `AmazonStability3TextToImageResponse`. */
export function isLongWorded(value: string): boolean {
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  const isRun = words.some(({ length }) => length > NAME_WORD_UNITS_MAX);
  return words.length > 1 && !isRun && letters >= words.length * NAME_WORD_UNITS_MIN;
}

/** Returns whether a value is the end of the name of a pod: the hash of a replica set, and five characters. */
export function isPodSuffix(value: string): boolean {
  return /^(?:[a-z]{2,20}-){0,6}[a-f0-9]{8,10}-[a-z0-9]{5}$/.test(value);
}

/** Compared without case, digits and punctuation. */
const WORDS = new Set(
  (
    'admin changeit changeme default demo dummy empty example examplekey fake false foo foobar foobarbaz ' +
    'hidden insert invalid key masked mypassword mysecret none notset null nil passphrase passwd password pass pw ' +
    'placeholder pwd redacted removed replace replaceme required sample secret secretkey string test testing ' +
    'testpassword todo token true undefined unknown unset user username value xxx yourpassword yoursecret yourtoken ' +
    'supersecret optional generated random hash hashed encrypted prompt stdin text hide show reset forgot input'
  ).split(' '),
);

/** A variable, a template or a lookup: the value is stored elsewhere. */
const REFERENCE =
  /^(?:\$|(?:op|ssm|arn|vault|secretsmanager|aws-sm|gcp-?sm|azurekv|keyvault|keychain|sops|bws|file|env):|ref\+|%[A-Za-z(]|#\{|<[^>]{0,80}>?$|\{\{?|\[|@[A-Za-z]|&[a-z]|\*+$|!{1,2}(?:[A-Z][A-Za-z]+|[a-z]+)(?![\w#$%^&*!?])|\/\/|(?:process|os|sys|env|environ|config|settings|self|this|ctx|secrets|vars?|params?|args?|data|request|req|options|opts|props|state|window|import\.meta)[.[(]|(?:get|read|load|fetch|input|prompt|require|decrypt|ref|vault|env|ENV|Fn|System)[\w.]{0,40}[(:[])|\$\{|\{\{|^[\w.]{1,80}\(|^https?:\/\/[^\s:@]{1,200}$/;

/** Words that documentation writes into a value. */
const EXAMPLE =
  /(?:^|[-_ <])(?:your|my|the|some|insert|replace|enter|put|paste|add)[-_ ]|^an?[-_ ][a-z]{3}|example|placeholder|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)|redacted|dummy|fake[-_]|sample|x{4,}|^__\w+__$|\.{3}|\*{3}|\u2026|0{8}|1234567890|123456789(?![0-9a-z])|abcdef(?:gh|$)|deadbeef|lorem/i;

const TO_FILL_IN =
  /(?:^|[-_ <])(?:your|insert|replace|enter|put|paste)[-_ ]|placeholder|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)|redacted|dummy|x{6,}|^__\w+__$|\.{3}|\*{3}|\u2026/i;

/** Returns whether a value of more than two characters has at most two different ones. */
function hasFewCharacters(value: string): boolean {
  const seen: string[] = [];
  for (const char of value) {
    if (seen.includes(char)) continue;
    seen.push(char);
    if (seen.length > 2) return false;
  }
  return seen.length < value.length;
}

/** Returns whether the body of a vendor's token is not masked, unlike `ghp_xxxxxxxx`. */
export function isUnmasked(token: string): boolean {
  return !/([xX*.#])\1{5}|(.)\2{11}|REPLACE|YOUR_/.test(token);
}

/**
 * Returns whether a value is a published example key, which opens nothing: keys that say so (`...EXAMPLE`), and keys
 * of vendors' documentation, standards and emulators.
 */
export function isDocumentedExample(value: string): boolean {
  return value.includes('EXAMPLE') || DOCUMENTED.some((tail) => value.endsWith(tail));
}

/**
 * Returns whether an address has the default user and password of a local service (`postgres:postgres` or
 * `guest:guest` on this machine). They open nothing anywhere else.
 */
export function isLocalDefault(address: string): boolean {
  const [, user = '', password = '', host = ''] =
    /^[\w+.-]+:\/\/([^:@/\s]*):([^@/\s]*)@([^/?#\s]*)/.exec(address) ?? [];
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\]|host\.docker\.internal)(?::\d+)?$/i.test(host);
  return isLocal && user !== '' && user === password && user.length <= 16;
}

/** Without the vendor's prefix, and each in two parts, so that code hosts accept this file. */
const DOCUMENTED: readonly string[] = (
  [
    // Stripe, GitHub and Kubernetes, in their documentation.
    ['4eC39HqLyjWD', 'arjtT1zdp7dc'],
    ['BQokikJOvBiI', '2HlWgH4olfQ2'],
    ['26PHem9AhJZv', 'U623DfE1x4sd'],
    ['16C7e42F292c6912', 'E7710c838347Ae178B4a'],
    ['abcdef.0123', '456789abcdef'],
    // The emulators of Azure storage and Cosmos DB.
    ['Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq', '/K1SZFPTOtr/KBHBeksoGMGw=='],
    ['C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGy', 'PMbIZnqyMsEcaGQy67XIw/Jw=='],
    // RFC 6749, 6750 and 7617, and jwt.io.
    ['2YotnFZFEjr1', 'zCsicMWpAA'],
    ['tGzv3JOkF0XG', '5Qx2TlKWIA'],
    ['czZCaGRSa3F0Mzpn', 'WDFmQmF0M2JW'],
    ['mF_9.B5f', '-4.1JqM'],
    ['QWxhZGRpbjpv', 'cGVuIHNlc2FtZQ=='],
    ['SflKxwRJSMeKKF2QT4fw', 'pMeJf36POk6yJV_adQssw5c'],
  ] as const
).map(([head, tail]) => head + tail);

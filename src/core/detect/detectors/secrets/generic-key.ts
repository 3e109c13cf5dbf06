import type { Detector } from '../../matching/detector.ts';
import { measureEntropy } from '../../matching/entropy.ts';
import { gradeNamedKey } from '../../matching/grade-secret.ts';
import {
  holdsAssignment,
  isCodeName,
  isLongWorded,
  isMadeOfWords,
  isPlaceholder,
  isPodSuffix,
  isWordLike,
} from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';
import { ASSIGNS_SECRET } from '../../matching/vendor-key.ts';

/** Names of keys that are public or are keys of a table. */
const NOT_AFTER =
  '(?<!(?:public|publishable|csrf|xsrf|page|next|cache|sort|primary|foreign|partition|object|idempotency|lookup|row|' +
  'translation|i18n|locali[sz]ation|group|registry|hot|short|websocket|grant|continuation|pagination|resume)[_-]?)';
/** Words before `_key` for keys that open, sign or pay. Other such keys are of records (`task_key`), often digests. */
const OPENING =
  '(?<=(?:encrypt(?:ion)?|decrypt(?:ion)?|cipher|crypto|sign(?:ing|ature)?|hmac|hash|aes|jwt|ssh|master|root|admin|account|' +
  'client|user|app|application|consumer|customer|partner|merchant|member|license|service|server|storage|shared|deploy(?:ment)?|' +
  'integration|sdk|session|webhook|data|project|write|read|ingest(?:ion)?|instrumentation|subscription|function|site|' +
  'restricted|live|test|prod|production|stage|staging|developer|bot|admin|security|vault|db|database|cookie|mail)[_-]key)';
/** A digest of 32, 40 or 64 digits in base 16, assigned. */
const DIGEST = '["\']?\\s{0,4}[:=]{1,2}\\s{0,4}["\']?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![\\w+/=-])';
const NAME = `${NOT_AFTER}(?:api[_ .-]?key|(?<!:)secret|secret(?!:)|token(?!iz)|(?:auth|access|private)[_-]?key|credential|authorization|[_-]key(?:${OPENING}|(?!${DIGEST})))`;
/** The value ends before the next such name, so that text made of names is not scanned again from each name. */
const VALUE = '(?:(?!(?:key|secret|token|credential)\\w{0,8}=)[A-Za-z0-9_~+/.=-]){16,512}';
/** The name of a file in a list of checksums: `"src/parse_key.rs": "..."`. */
const NO_FILE =
  '(?<!\\.(?:rs|go|js|mjs|cjs|ts|tsx|py|rb|java|kt|c|h|cc|cpp|hpp|md|rst|txt|html|css|json|ya?ml|toml|xml|sh|pem|stderr|stdout|golden|snap|php|cs|swift|der|p8|pk8|p12|crt|bin|dat))';
const ASSIGNED = `[\\w.-]{0,30}${NO_FILE}(?: (?:string|key))?${ASSIGNS_SECRET}(?<value>${VALUE})`;
/** Without a sign between name and value, the value must be unambiguous. */
const NAMED = '["\'` -]{1,2}(?=[A-Za-z-]{0,24}\\d)(?<value2>[A-Za-z0-9_-]{24,200})(?![\\w.@/:-])';

export const genericKey: readonly Detector[] = [
  {
    id: 'generic.assigned_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key'],
    severity: 'high',
    grade: gradeNamedKey,
    strength: 'cue',
    description:
      'A value that looks random next to a word such as `api_key`, `secret`, `token` or `credential`.',
    anchors: [
      '(?i)api[_ .-]?key',
      '(?i)secret',
      '(?i)token',
      '(?i)auth[_-]?key',
      '(?i)access[_-]?key',
      '(?i)private[_-]?key',
      '(?i)credential',
      '(?i)authorization["\']?[:=]',
      '(?i)[_-]key',
    ],
    try_work: 256,
    pattern: new RegExp(`${NAME}(?:${ASSIGNED}|${NAMED})`, 'i'),
    validate: isRandomKey,
    member: {
      key: /(?<!public[_-]?|csrf[_-]?|xsrf[_-]?|page[_-]?|next[_-]?)(?:api[_ .-]?key|secret|token|(?:auth|access|private)[_-]?key|credential)s?(?:[_-]?(?:value|base64|id))?$/i,
      validate: (value) => /^[A-Za-z0-9_~+/=.-]{16,512}$/.test(value) && isRandomKey(value),
    },
    examples: {
      hits: [
        `api_key = "«${sampleBody(32)}»"`,
        `"apiKey": "«${sampleBody(24)}»",`,
        `{\\"client_secret\\": \\"«${sampleBody(40, HEX_ALPHABET)}»\\"}`,
        `export SERVICE_TOKEN=«${sampleBody(28)}»`,
        `my api key is «${sampleBody(32)}»`,
        `Secret Key: «${sampleBody(20)}»`,
        `"authorization": "«${sampleBody(38)}»"`,
        `encryption_key: «${sampleBody(64, HEX_ALPHABET)}»`,
        `"task_key": "«${sampleBody(40)}»"`,
        `session_token=«${sampleBody(20)}=${sampleBody(30)}==»&x=1`,
      ],
      misses: [
        'api_key = process.env.SERVICE_API_KEY',
        'api_key = "<your-api-key-goes-here>"',
        'api_key = "your_api_key_goes_here_1"',
        `token: \${{ secrets.GITHUB_TOKEN_1 }}`,
        'secret = config.secrets.application1',
        'max_tokens: 4096',
        'api_key = "8f0b7c2e-1d3a-4e5f-9a6b-7c8d9e0f1a2b"',
        'the token is refreshed automatically',
        'Client(api_key="test-key", http_client=httpx2.AsyncClient1())',
        'rsa.generate_private_key(public_exponent=65537, key_size=2048)',
        'session_token_header = "X-aws-ec2-metadata-token"',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `"src/parse_key.rs": "${sampleBody(64, HEX_ALPHABET)}"`,
        `"crew_key": "${sampleBody(32, HEX_ALPHABET)}"`,
        `task_key='${sampleBody(40, HEX_ALPHABET)}'`,
        '"id": "send-ssh-key-to-an-ec2-instance-1518124883100"',
        'arn:aws:secretsmanager:us-east-1:012345678901:secret:mygroup/ALIAS_12-0123456',
        'Tokenizer.from_pretrained("Xenova/c4ai-command-r-v01-tokenizer")',
        'new_with_empty_secret(TLS13_CHACHA20_POLY1305_SHA256_INTERNAL)',
        `token_cache_key = "${sampleBody(40, HEX_ALPHABET)}"`,
      ],
    },
  },
  {
    id: 'generic.short_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key'],
    severity: 'high',
    grade: gradeNamedKey,
    strength: 'cue',
    description:
      'A value of twelve to fifteen letters and digits of both cases right after `secret` or `token`.',
    anchors: ['(?i)secret[:=]', '(?i)token[:=]', '(?i)secret["\'] ?[:=]', '(?i)token["\'] ?[:=]'],
    pattern: new RegExp(
      `${NOT_AFTER}(?:secret|token)["']?\\s?[:=]{1,2}\\s?["']?(?<value>[A-Za-z0-9]{12,15})(?![\\w.(/:+=-])`,
      'i',
    ),
    validate: (value) =>
      (value.match(/\d/g)?.length ?? 0) >= 2 &&
      /[a-z]/.test(value) &&
      /[A-Z]/.test(value) &&
      !isLongWorded(value) &&
      isRandomKey(value, SHORT_UNITS_MIN),
    examples: {
      hits: ['ANY-Token:«AIhq5Xyb1Gga9Q0»', 'secret=«x7Kd92mQpLs4»'],
      misses: ['token: Base64Decoder1', 'page_token=x7Kd92mQpLs4', 'token=x7Kd92mQ', 'secret = Sha256Hash12'],
    },
  },
  {
    id: 'generic.sk_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key'],
    severity: 'critical',
    strength: 'shape',
    description: 'The form that many model providers share: `sk-` and at least 16 letters and digits.',
    anchors: ['\\bsk-[A-Za-z0-9]{2}', '\\bsk-or-v1-'],
    pattern: /sk-(?:or-v1-)?(?=[A-Za-z]{0,200}\d)[A-Za-z0-9]{16,200}(?:[\w-]{0,200}\w)?/,
    examples: {
      hits: [
        `Use key «${'sk'}-ABCDEF1234567890»`,
        `«${'sk'}-${sampleBody(48)}».`,
        `«${'sk'}-${sampleBody(20)}-${sampleBody(20)}»- and more`,
        `«${'sk'}-or-v1-${sampleBody(64, HEX_ALPHABET)}»`,
      ],
      misses: ['sk-fading-circle', 'sk-internationalization', 'risk-1234567890123456', 'sk-1234'],
    },
  },
];

const KEY_UNITS_MIN = 16;
const SHORT_UNITS_MIN = 12;

/** Most UUIDs are ids. Keys in this form are found by the name of their vendor. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns whether a value mixes letters and digits and is no word and no name in code. Base16 text of this length has
 * at least 3 bits of entropy per character.
 */
function isRandomKey(value: string, unitsMin: number = KEY_UNITS_MIN): boolean {
  const core = value.replace(/^[=.-]+|[=.-]+$/g, '');
  if (
    core.length < unitsMin ||
    isPlaceholder(core) ||
    isWordLike(core) ||
    isCodeName(core) ||
    value.endsWith('..')
  )
    return false;
  if (isMadeOfWords(core) || holdsAssignment(core) || isPodSuffix(core)) return false;
  const digits = core.replace(/\D/g, '').length;
  if (digits === 0 || digits === core.length) return false;
  if (digits === 1 && /^[a-z_.-]+\d?[a-z_.-]*$/.test(core)) return false;
  if (UUID.test(core)) return false;
  return measureEntropy(core) >= 3;
}

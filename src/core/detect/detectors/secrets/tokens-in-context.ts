import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

/** Tokens whose form identifies a vendor only after the vendor's name or keyword. */
export const tokensInContext: readonly Detector[] = [
  {
    id: 'jenkins.setup_password',
    detector: 'password',
    tags: ['secret.credential.password.jenkins'],
    severity: 'critical',
    strength: 'proof',
    description: 'The first administrator’s password that Jenkins writes into its log.',
    anchors: ['proceed to installation'],
    pattern: /proceed to installation:\s{1,12}(?<value>[a-f0-9]{32})(?!\w)/,
    examples: {
      hits: [
        `Please use the following password to proceed to installation:\n\n«${sampleBody(32, HEX_ALPHABET)}»\n`,
      ],
      misses: ['Please use the following password to proceed to installation:\n\n<password>'],
    },
  },
  {
    id: 'truenas.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.truenas'],
    severity: 'critical',
    strength: 'proof',
    description: 'TrueNAS keys, a number and 64 characters, where a client logs in with one.',
    anchors: ['login_with_api_key'],
    pattern: /login_with_api_key[^\w]{1,4}[^-]{0,40}?(?<value>\d{1,4}-[A-Za-z0-9]{64})(?!\w)/,
    try_work: 64,
    examples: {
      hits: [`{"method": "auth.login_with_api_key", "params": ["«8-${sampleBody(64)}»"]}`],
      misses: ['{"method": "auth.login_with_api_key", "params": [key]}'],
    },
  },
  {
    id: 'zhipu.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.zhipu'],
    severity: 'high',
    strength: 'shape',
    description:
      'Keys of Zhipu (BigModel, Z.ai): an id of 32 hexadecimal digits, a dot and a secret of sixteen characters.',
    anchors: ['[a-f0-9]{6}\\.[A-Za-z0-9]{4}'],
    back: { over: '[a-f0-9]', units_max: 40 },
    pattern: /(?<!\w)[a-f0-9]{32}\.[A-Za-z0-9]{16}(?![\w-]|\.\w)/,
    validate: (value) => /\.(?=.*\d)(?=.*[a-z])(?=.*[A-Z])/.test(value),
    examples: {
      hits: [`key = "«${sampleBody(32, HEX_ALPHABET)}.${sampleBody(16)}»"`],
      misses: [
        `${sampleBody(32, HEX_ALPHABET)}.bundle.min.js`,
        `${sampleBody(32, HEX_ALPHABET)}.abcdefghijklmnop`,
      ],
    },
  },
  {
    id: 'atlassian.data_center_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.atlassian'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Personal tokens of Jira and Confluence Data Center: base64 of twelve digits, a colon and twenty random bytes.',
    anchors: ['(?<![A-Za-z0-9+])[MNO][DTjz][AEIMQUYcgk][w-z0-5][MNO][DTjz][AEIMQUYcgk][w-z0-5]'],
    pattern: /(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){4}O[g-v][A-Za-z0-9+/]{26}(?![A-Za-z0-9+=])/,
    validate: isUnmasked,
    examples: {
      hits: [`Authorization: Bearer «${'OTI2NjA3NjU1'}${'NTI2Oh'}${sampleBody(26)}»`],
      misses: ['OTI2NjA3NjU1NTI2', `${'OTI2NjA3NjU1'}${'NTI2Aa'}${sampleBody(26)}`],
    },
  },
  {
    id: 'facebook.app_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.facebook'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Access tokens of Facebook apps, as Meta documents them: the app’s number, `|` and its secret.',
    anchors: ['(?i)(?<![A-Za-z])facebook', '(?i)(?<![A-Za-z])fb[_-]'],
    pattern: /(?:facebook|fb[_-])[^\n]{0,40}?(?<!\d)(?<value>\d{13,17}\|[\w-]{20,40})(?!\w)/i,
    examples: {
      hits: [`facebook_token = "«1308742762612587|${sampleBody(27)}»"`],
      misses: ['facebook 1308742762612587', 'facebook likes: 1308742762612587|short'],
    },
  },
  {
    id: 'facebook.app_token_alone',
    detector: 'api_key',
    tags: ['secret.credential.api_key.facebook'],
    severity: 'high',
    strength: 'shape',
    description:
      'Access tokens of Facebook apps without a name: 15 or 16 digits, `|` and 27 characters of base64.',
    anchors: ['(?<![\\w|])\\d{15,16}\\|[A-Za-z0-9_-]'],
    pattern: /\d{15,16}\|[\w-]{27}(?![\w|-])/,
    validate: (value) => /\|(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/.test(value),
    examples: {
      hits: [`"«1308742762612587|${sampleBody(27)}»"`],
      misses: [
        '1308742762612587|short',
        `1308742762612587|${'a'.repeat(27)}`,
        `|1308742762612587|${sampleBody(27)}|`,
      ],
    },
  },
  {
    id: 'adyen.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.adyen'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Adyen keys: `AQE` and at least 80 characters of base64, but no line of a longer base64 text, as in a certificate.',
    anchors: ['\\bAQE[A-Za-z0-9+/=_-]{5}'],
    pattern: /(?<![A-Za-z0-9+/]{48}\r?\n|[A-Za-z0-9+/_-]{16}[+/-])AQE[A-Za-z0-9+/=_-]{80,400}/,
    validate: isUnmasked,
    examples: {
      hits: [`x-API-key: «${'AQE'}${sampleBody(90)}»`, `keys\n«${'AQE'}${sampleBody(90)}»`],
      misses: [`${sampleBody(64)}\n${'AQE'}${sampleBody(90)}`, `${'AQE'}${sampleBody(70)}`],
    },
  },
  {
    id: 'grafana.legacy_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.grafana'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Keys of Grafana in the older form: base64 of JSON that begins with `{"k":"`. Public reports of Power BI begin in the same way, and continue with `","t"`.',
    anchors: ['\\beyJrIjoi'],
    pattern: /eyJrIjoi(?![A-Za-z0-9+/]{0,80}IiwidCI)[A-Za-z0-9+/=_-]{60,400}/,
    validate: isUnmasked,
    examples: {
      hits: [`Bearer «${'eyJrIjoi'}${sampleBody(92)}»`],
      misses: [
        `https://app.example.org/view?r=${'eyJrIjoi'}${sampleBody(46)}IiwidCI6Ij${sampleBody(50)}`,
        `${'eyJrIjoi'}${sampleBody(40)}`,
      ],
    },
  },
  {
    id: 'infracost.api_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.infracost'],
    severity: 'critical',
    strength: 'proof',
    description: 'Infracost tokens: `ico-` and 32 letters and digits, not behind the dot of a file name.',
    anchors: ['(?<![\\w.])ico-'],
    pattern: /ico-[A-Za-z0-9]{32,96}(?![\w-])/,
    validate: isUnmasked,
    examples: {
      hits: [`INFRACOST_API_KEY=«${'ico'}-${sampleBody(32)}»`],
      misses: [
        `box.ico-${sampleBody(32, HEX_ALPHABET)}.png`,
        `ico-${sampleBody(31)}`,
        `nico-${sampleBody(32)}`,
      ],
    },
  },
  {
    id: 'recaptcha.key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.recaptcha'],
    severity: 'medium',
    strength: 'shape',
    description:
      'Keys of reCAPTCHA: `6L`, six characters, `AAAAA` and 27 more. Keys of a site have the same form and are left out where their name is next to them.',
    anchors: ['\\b6L[A-Za-z0-9_-]{6}AAAAA'],
    pattern: /(?<!(?:site-?_?key|render|public)["'`]?\s?[=:]\s?["'`]?)6L[\w-]{6}AAAAA[\w-]{27}(?![\w-])/i,
    // Google documents this pair for tests.
    validate: (value) => !value.startsWith('6LeIxAcTAAAAA'),
    examples: {
      hits: [`secret: «${'6Lc'}${sampleBody(5)}AAAAA${sampleBody(27)}»`],
      misses: [`data-sitekey="${'6Lc'}${sampleBody(5)}AAAAA${sampleBody(27)}"`, `${'6Lc'}${sampleBody(37)}`],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
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
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const azure: readonly Detector[] = [
  {
    id: 'azure.storage_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.azure'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Azure keys in connection strings and settings: 32 to 64 bytes (storage and Cosmos DB have 64, Service Bus and Event Hubs 32) in base64 after `AccountKey=`, `SharedAccessKey=` or `Secret=`.',
    anchors: ['(?i)accountkey', '(?i)sharedaccesskey'],
    pattern:
      /(?:AccountKey|SharedAccessKey)\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?(?<value>[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43,80}={1,2})/i,
    validate: isUnmasked,
    examples: {
      hits: [
        `AccountName=shop;AccountKey=«${sampleBody(86)}==»;EndpointSuffix=core.windows.net`,
        `SharedAccessKeyName=root;SharedAccessKey=«${sampleBody(43)}=»`,
      ],
      misses: ['AccountKey=<key>', `AccountKey=${sampleBody(20)}`],
    },
  },
  {
    id: 'azure.client_secret',
    detector: 'api_key',
    tags: ['secret.credential.api_key.azure'],
    severity: 'critical',
    strength: 'proof',
    description: 'Microsoft Entra client secrets: three characters, a digit, `Q~`, then 31 to 34 more.',
    anchors: ['[\\w~.-]\\dQ~'],
    back: { over: '[\\w~.-]', units_max: 2 },
    pattern: /[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/,
    validate: isUnmasked,
    examples: {
      hits: [`secret: «${'abc'}8Q~${sampleBody(34)}»`],
      misses: [`abc8Q~${sampleBody(12)}`],
    },
  },
  {
    id: 'azure.shared_access_signature',
    detector: 'api_key',
    tags: ['secret.credential.api_key.azure'],
    severity: 'critical',
    strength: 'proof',
    description: 'Azure shared access signatures: the `sig` parameter of a signed URL.',
    anchors: ['(?i)[?&]sig='],
    pattern: /[?&]sig=(?<value>(?:[A-Za-z0-9+/=]|%2[bf]|%3d){42,64})(?![A-Za-z0-9+/%])/i,
    validate: isUnmasked,
    examples: {
      hits: [`https://a.blob.core.windows.net/c/f?sv=2022-11-02&sig=«${sampleBody(43)}%3D»`],
      misses: ['https://a.test/?sig=abc'],
    },
  },
];

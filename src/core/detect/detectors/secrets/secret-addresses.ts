import type { Detector } from '../../matching/detector.ts';
import { BASE36, BASE62, HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

interface SecretAddress {
  readonly id: string;
  readonly description: string;
  readonly anchors: readonly string[];
  readonly pattern: RegExp;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** Work of one attempt: reads a whole path and query. */
const TRY_WORK = 64;

function buildAddressDetector({ id, description, anchors, pattern, hits, misses }: SecretAddress): Detector {
  return {
    id,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${id.slice(0, id.indexOf('.'))}`],
    severity: 'critical',
    strength: 'proof',
    description,
    anchors,
    pattern,
    try_work: TRY_WORK,
    examples: { hits, misses },
  };
}

const UUID = '8f0b7c2e-1d3a-4e5f-9a6b-7c8d9e0f1a2b';

/** Addresses that are credentials themselves: webhooks, and nodes with the key in the path. */
export const secretAddresses: readonly Detector[] = [
  buildAddressDetector({
    id: 'microsoft.teams_webhook',
    description: 'Incoming webhooks of Microsoft Teams: the path behind `webhook.office.com`.',
    anchors: ['webhook\\.office\\.com/'],
    pattern:
      /webhook\.office\.com\/(?<value>webhookb2\/[\w-]{30,40}@[\w-]{30,40}\/IncomingWebhook\/[\w-]{20,40}(?:\/[\w-]{20,60}){0,2}|webhookb2\/[\w-]{30,40}@[\w-]{30,40}\/\w{1,200})/,
    hits: [
      `https://acme.webhook.office.com/«webhookb2/${UUID}@${UUID}/IncomingWebhook/${sampleBody(32, HEX_ALPHABET)}/${UUID}»`,
    ],
    misses: ['https://acme.webhook.office.com/', 'https://outlook.office.com/webhookb2/x'],
  }),
  buildAddressDetector({
    id: 'microsoft.workflow_trigger',
    description: 'Triggers of Logic Apps and Power Automate: the signature in the address.',
    anchors: ['logic\\.azure\\.com', 'powerplatform\\.com'],
    pattern:
      /(?:logic\.azure\.com|powerplatform\.com)(?::443)?\/[^\s"'<>]{20,400}?[?&]sig=(?<value>[\w%-]{40,60})/,
    hits: [
      `https://prod-1.westeurope.logic.azure.com:443/workflows/${sampleBody(32, HEX_ALPHABET)}/triggers/manual/paths/invoke?sv=1.0&sig=«${sampleBody(43)}»`,
    ],
    misses: ['https://prod-1.westeurope.logic.azure.com/workflows/x'],
  }),
  buildAddressDetector({
    id: 'google.chat_webhook',
    description: 'Webhooks of Google Chat: key and token in the address.',
    anchors: ['chat\\.googleapis\\.com/'],
    pattern:
      /chat\.googleapis\.com\/v1\/spaces\/[\w-]{6,40}\/messages\?(?<value>key=[\w-]{30,60}&token=[\w%-]{30,80})/,
    hits: [
      `https://chat.googleapis.com/v1/spaces/AAAA1234/messages?«key=${sampleBody(39)}&token=${sampleBody(43)}»`,
    ],
    misses: ['https://chat.googleapis.com/v1/spaces/AAAA1234/messages'],
  }),
  buildAddressDetector({
    id: 'zapier.webhook',
    description: 'Webhooks of Zapier and Make: the path behind their hosts.',
    anchors: ['hooks\\.zapier\\.com/', '\\.make\\.com/'],
    pattern:
      /hooks\.zapier\.com\/hooks\/(?:catch|standard)\/(?<value>\d{5,10}\/\w{5,40})|(?<=\bhook\.[a-z]{2}\d)\.make\.com\/(?<value2>[a-z0-9]{24,40})/,
    hits: [
      'https://hooks.zapier.com/hooks/catch/«1234567/a1b2c3d»/',
      `https://hook.eu1.make.com/«${sampleBody(32, BASE36)}»`,
    ],
    misses: ['https://hooks.zapier.com/', 'https://www.make.com/en/pricing'],
  }),
  buildAddressDetector({
    id: 'blockchain.node_key',
    description:
      'Keys in the path to nodes of Infura, Alchemy and QuickNode, as their documentation has them.',
    anchors: ['infura\\.io/', 'alchemyapi\\.io/', 'alchemy\\.com/', 'quiknode\\.pro/'],
    pattern:
      /(?:infura\.io\/(?:ws\/)?v3\/(?<value>[a-f0-9]{32})|(?:alchemyapi\.io|g\.alchemy\.com|alchemy\.com)\/v2\/(?<value2>[\w-]{28,40})|quiknode\.pro\/(?<value3>[a-f0-9]{40}))(?!\w)/,
    hits: [
      `https://mainnet.infura.io/v3/«${sampleBody(32, HEX_ALPHABET)}»`,
      `wss://eth-mainnet.g.alchemy.com/v2/«${sampleBody(32, BASE62)}»`,
      `https://x-y.quiknode.pro/«${sampleBody(40, HEX_ALPHABET)}»/`,
    ],
    misses: ['https://mainnet.infura.io/v3/YOUR-PROJECT-ID', 'https://docs.alchemy.com/v2/reference'],
  }),
];

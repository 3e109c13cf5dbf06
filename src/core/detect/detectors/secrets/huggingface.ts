import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const huggingface: readonly Detector[] = [
  {
    id: 'huggingface.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.huggingface'],
    severity: 'critical',
    strength: 'proof',
    description: 'Hugging Face access tokens (`hf_`) and organisation tokens (`api_org_`): 34 letters.',
    anchors: ['\\bhf_', '\\bapi_org_'],
    pattern: /(?:hf_|api_org_)[A-Za-z0-9]{34,40}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`HF_TOKEN=«${'hf'}_${sampleBody(34)}»`],
      misses: ['hf_hub_download'],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const hashicorp: readonly Detector[] = [
  {
    id: 'hashicorp.vault_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.hashicorp'],
    severity: 'critical',
    strength: 'proof',
    description: 'HashiCorp Vault tokens: service (`hvs.`), batch (`hvb.`) and recovery (`hvr.`).',
    anchors: ['\\bhv[sbr]\\.'],
    pattern: /hv[sbr]\.[\w-]{24,300}/,
    validate: isUnmasked,
    examples: {
      hits: [`VAULT_TOKEN=«${'hvs'}.${sampleBody(24)}»`],
      misses: ['hvs.short'],
    },
  },
  {
    id: 'hashicorp.terraform_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.hashicorp'],
    severity: 'critical',
    strength: 'proof',
    description: 'HCP Terraform tokens: 14 characters, `.atlasv1.`, then 60 to 70 more.',
    anchors: ['\\w\\.atlasv1\\.'],
    back: { over: '\\w', units_max: 14 },
    pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}/,
    validate: isUnmasked,
    examples: {
      hits: [`«${sampleBody(14)}.${'atlasv1'}.${sampleBody(67)}»`],
      misses: ['x.atlasv1.y'],
    },
  },
];

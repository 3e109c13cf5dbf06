import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const github: readonly Detector[] = [
  {
    id: 'github.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.github'],
    severity: 'critical',
    strength: 'proof',
    description:
      'GitHub tokens: `ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_`, then at least 36 characters, whatever their checksum.',
    anchors: ['\\bgh[pousr]_'],
    pattern: /gh[pousr]_[A-Za-z0-9]{36,255}(?![A-Za-z0-9])/,
    try_work: 56,
    validate: isUnmasked,
    examples: {
      hits: [`git clone https://«${'ghp'}_${sampleBody(36)}»@github.com/a/b`, `«${'ghs'}_${sampleBody(36)}»`],
      misses: [`${'ghp'}_${sampleBody(20)}`, 'ghp_your_token_here'],
    },
  },
  {
    id: 'github.fine_grained_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.github'],
    severity: 'critical',
    strength: 'proof',
    description:
      'GitHub fine-grained personal access tokens: `github_pat_`, 22 characters, `_`, 59 characters.',
    anchors: ['\\bgithub_pat_'],
    pattern: /github_pat_[A-Za-z0-9]{16,30}_[A-Za-z0-9]{40,120}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'github'}_pat_${sampleBody(22)}_${sampleBody(59)}»`],
      misses: [`${'github'}_pat_${sampleBody(22)}`],
    },
  },
  {
    id: 'github.installation_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.github'],
    severity: 'critical',
    strength: 'proof',
    description: 'Stateless tokens of GitHub apps: `ghs_`, the number of the app, `_` and a JSON Web Token.',
    anchors: ['\\bghs_\\d'],
    pattern: /ghs_\d{1,20}_eyJ[\w-]{10,800}\.eyJ[\w-]{10,2000}\.[\w-]{20,800}/,
    try_work: 256,
    validate: isUnmasked,
    examples: {
      hits: [`«${'ghs'}_4242_${'eyJ'}${sampleBody(30)}.${'eyJ'}${sampleBody(60)}.${sampleBody(43)}»`],
      misses: [`${'ghs'}_4242_${'eyJ'}${sampleBody(30)}`],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const openai: readonly Detector[] = [
  {
    id: 'openai.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.openai'],
    severity: 'critical',
    strength: 'proof',
    description:
      'OpenAI project, service-account and admin keys (`sk-proj-`, `sk-svcacct-`, `sk-admin-`), and older ones with `T3BlbkFJ` in the middle.',
    anchors: ['\\bsk-proj-', '\\bsk-svcacct-', '\\bsk-admin-', '\\bsk-[A-Za-z0-9]{2}'],
    pattern: /sk-(?:(?:proj|svcacct|admin)-[\w-]{20,250}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})(?![\w-])/,
    try_work: 56,
    validate: (value) => /\d/.test(value) && isUnmasked(value),
    examples: {
      hits: [
        `«${'sk'}-proj-${sampleBody(156)}»`,
        `«${'sk'}-${sampleBody(20)}${'T3Blbk'}FJ${sampleBody(20)}»`,
      ],
      misses: ['sk-proj-name'],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const gitlab: readonly Detector[] = [
  {
    id: 'gitlab.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.gitlab'],
    severity: 'critical',
    strength: 'proof',
    description:
      'GitLab tokens: personal (`glpat-`), deploy (`gldt-`), runner (`glrt-`), trigger (`glptt-`) and the other `gl...-` kinds.',
    anchors: [
      '\\bglpat-',
      '\\bgldt-',
      '\\bglrt-',
      '\\bglptt-',
      '\\bglcbt-',
      '\\bglsoat-',
      '\\bglimt-',
      '\\bglagent-',
      '\\bglft-',
      '\\bglffct-',
      '\\bgloas-',
      '\\bglwt-',
      '\\bGR1348941',
    ],
    pattern: /(?:gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent|ft|ffct|oas|wt)-|GR1348941)[\w.-]{20,300}(?![\w-])/,
    try_work: 256,
    validate: isUnmasked,
    examples: {
      hits: [`«${'glpat'}-${sampleBody(20)}»`, `runner «${'glrt'}-${sampleBody(20)}»`],
      misses: [`${'glpat'}-${sampleBody(8)}`],
    },
  },
];

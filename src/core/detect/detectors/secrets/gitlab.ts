import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

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
      '\\bglrtr-',
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
    pattern: /(?:gl(?:pat|dt|rtr?|ptt|cbt|soat|imt|agent|ft|ffct|oas|wt)-|GR1348941)[\w.-]{20,300}(?![\w-])/,
    try_work: 256,
    validate: isUnmasked,
    examples: {
      hits: [`«${'glpat'}-${sampleBody(20)}»`, `runner «${'glrt'}-${sampleBody(20)}»`],
      misses: [`${'glpat'}-${sampleBody(8)}`],
    },
  },
  {
    id: 'gitlab.session_cookie',
    detector: 'api_key',
    tags: ['secret.credential.api_key.gitlab'],
    severity: 'critical',
    strength: 'proof',
    description: 'Session cookies of GitLab: `_gitlab_session=` and 32 hexadecimal digits.',
    anchors: ['_gitlab_session='],
    pattern: /_gitlab_session=(?<value>[a-f0-9]{32})(?!\w)/,
    validate: isUnmasked,
    examples: {
      hits: [`Cookie: _gitlab_session=«${sampleBody(32, HEX_ALPHABET)}»; a=b`],
      misses: ['_gitlab_session=abc', 'Cookie: _gitlab_session=<session>'],
    },
  },
];

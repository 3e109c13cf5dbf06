import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const stripe: readonly Detector[] = [
  {
    id: 'stripe.secret_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.stripe'],
    severity: 'critical',
    strength: 'proof',
    description: 'Stripe secret (`sk_`) and restricted keys (`rk_`), live and test.',
    anchors: ['\\b[sr]k_live_', '\\b[sr]k_test_', '\\b[sr]k_prod_'],
    pattern: /[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'sk'}_live_${sampleBody(24)}»`, `«${'rk'}_test_${sampleBody(99)}»`],
      misses: ['pk_live_is_public', 'sk_live_'],
    },
  },
  {
    id: 'stripe.webhook_secret',
    detector: 'api_key',
    tags: ['secret.credential.api_key.stripe'],
    severity: 'critical',
    strength: 'proof',
    description: 'Stripe webhook signing secrets: `whsec_` and at least 32 characters.',
    anchors: ['\\bwhsec_'],
    pattern: /whsec_[A-Za-z0-9+/=]{32,250}/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'whsec'}_${sampleBody(32)}»`],
      misses: ['whsec_test'],
    },
  },
];

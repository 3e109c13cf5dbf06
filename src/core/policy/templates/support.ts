import type { PolicyPack } from './policy-pack.ts';

export const support: PolicyPack = {
  name: 'support',
  description:
    'Keeps secrets and payment data out of answers, and requires approval before an account changes hands.',
  document: {
    version: 'v1alpha1',
    policies: [
      {
        name: 'support-block-secrets-in-prompts',
        boundary: ['input', 'action'],
        data_tags: ['secret'],
        action: 'block',
        priority: 10,
        reason: 'A secret must not reach a model or a tool.',
      },
      {
        name: 'support-block-secrets-in-answers',
        boundary: 'output',
        data_tags: ['secret'],
        action: 'block',
        priority: 10,
        reason: 'The answer held a secret.',
        fallback_template: 'I cannot share that here. A colleague will get back to you.',
      },
      {
        name: 'support-redact-payment-data',
        description: 'Applies to answers and to tool results: support does not need the whole number.',
        boundary: 'output',
        data_tags: ['personal.financial', 'personal.pii.ssn'],
        action: 'redact',
        priority: 210,
        severity: 'high',
        reason: 'Card, account and social security numbers are masked.',
      },
      {
        name: 'support-approve-account-takeover-steps',
        boundary: 'action',
        action: 'require_approval',
        priority: 200,
        reason: 'Changes of access to an account need approval.',
        condition: {
          tools: [
            '*change_email*',
            '*update_email*',
            '*reset_mfa*',
            '*disable_mfa*',
            '*reset_password*',
            '*close_account*',
          ],
          phase: 'request',
        },
        approval: { ttl: '1h', min_approvals: 1 },
      },
    ],
  },
};

import type { Template } from './template.ts';

export const finance: Template = {
  name: 'finance',
  description: 'Keeps card and account numbers in, and asks a person before money moves.',
  document: {
    version: 'v1alpha1',
    policies: [
      {
        name: 'finance-block-secrets',
        description: 'A secret never crosses, not even into an answer with a mask in its place.',
        boundary: ['input', 'output', 'action'],
        data_tags: ['secret'],
        action: 'block',
        priority: 10,
        reason: 'Secrets never cross in a financial setting.',
        condition: { phase: ['request', 'response', 'message'] },
      },
      {
        name: 'finance-redact-financial-data',
        boundary: ['input', 'output'],
        data_tags: ['personal.financial', 'personal.pii', 'financial'],
        action: 'redact',
        priority: 20,
        severity: 'high',
        reason: 'Card numbers, accounts and personal data are masked in prompts and answers.',
      },
      {
        name: 'finance-redact-results',
        boundary: 'action',
        data_tags: ['personal.financial'],
        action: 'redact',
        priority: 20,
        reason: 'Card and account numbers in tool results are masked before the model sees them.',
        condition: { phase: 'response' },
      },
      {
        name: 'finance-approve-transfers',
        boundary: 'action',
        action: 'require_approval',
        priority: 30,
        reason: 'Money moves only when a person agrees.',
        condition: {
          tools: ['*transfer*', '*payment*', '*payout*', '*refund*', '*wire*', '*withdraw*'],
          phase: 'request',
        },
        approval: { ttl: '1h', min_approvals: 1 },
      },
    ],
  },
};

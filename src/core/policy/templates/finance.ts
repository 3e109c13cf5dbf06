import type { PolicyPack } from './policy-pack.ts';

export const finance: PolicyPack = {
  name: 'finance',
  description: 'Keeps card and account numbers in, and requires approval before money moves.',
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
        description: 'Holds for answers and for tool results; arguments of tools keep their account numbers.',
        boundary: 'output',
        data_tags: ['personal.financial', 'personal.pii', 'financial'],
        action: 'redact',
        priority: 210,
        severity: 'high',
        reason: 'Card numbers, accounts and personal data are masked in answers and tool results.',
      },
      {
        name: 'finance-note-financial-data-in-use',
        boundary: ['input', 'action'],
        data_tags: ['financial'],
        action: 'flag',
        priority: 220,
        reason: 'The call is declared to carry financial data.',
      },
      {
        name: 'finance-approve-transfers',
        boundary: 'action',
        action: 'require_approval',
        priority: 200,
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

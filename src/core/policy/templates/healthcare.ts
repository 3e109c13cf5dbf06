import type { PolicyPack } from './policy-pack.ts';

export const healthcare: PolicyPack = {
  name: 'healthcare',
  description: 'Masks health and personal data, and requires approval before care or medication changes.',
  document: {
    version: 'v1alpha1',
    policies: [
      {
        name: 'healthcare-block-secrets',
        boundary: ['input', 'output', 'action'],
        data_tags: ['secret'],
        action: 'block',
        priority: 10,
        reason: 'Secrets never cross in a clinical setting.',
        condition: { phase: ['request', 'response', 'message'] },
      },
      {
        name: 'healthcare-redact-health-data',
        description:
          'Holds for answers and for tool results. A declared tag of which nothing is found cannot be masked and blocks.',
        boundary: 'output',
        data_tags: ['personal', 'confidential'],
        action: 'redact',
        priority: 210,
        severity: 'high',
        reason: 'Health and personal data are masked in answers and tool results.',
      },
      {
        name: 'healthcare-note-confidential-data-in-use',
        boundary: ['input', 'action'],
        data_tags: ['confidential'],
        action: 'flag',
        priority: 220,
        reason: 'The call is declared to carry confidential data.',
      },
      {
        name: 'healthcare-redact-messages',
        description: 'Data of patients does not travel between agents.',
        boundary: 'action',
        data_tags: ['personal'],
        action: 'redact',
        priority: 210,
        reason: 'Health and personal data are masked in messages between agents.',
        condition: { phase: 'message' },
      },
      {
        name: 'healthcare-approve-care-changes',
        boundary: 'action',
        action: 'require_approval',
        priority: 200,
        reason: 'Care plans, orders and medication change only when a person agrees.',
        condition: {
          tools: ['*care_plan*', '*medication*', '*prescri*', '*dosage*', '*discharge*'],
          phase: 'request',
        },
        approval: { ttl: '4h', min_approvals: 1 },
      },
    ],
  },
};

import { requireOperator } from '../../operations/managed-change.ts';
import { defineOperation } from '../../operations/operation.ts';
import { buildVerdictReply, findChangedContent } from '../../operations/reply.ts';
import { readTextCrossing } from '../../operations/scan.ts';
import { tenantId, verdictProperties, verdictRequired } from '../../operations/shapes.ts';

const AGENT_ID = 'console-try-it';
const TEXT_CHARS_MAX = 20_000;

export const detectionTry = defineOperation({
  name: 'detection_try',
  summary: 'Try a text',
  description:
    'Scans a text by the `input` rules as `scan_input` does, to see what detectors find. The event has no text, whatever `audit.log_inputs` says, and is marked as a self-test: counts, metrics, alerts and reports leave it out, and no approval is requested. Requires an operator.',
  http: { method: 'POST', path: '/v1/dashboard/detection/try' },
  permission: 'policies:edit',
  needs: 'policy',
  input: {
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string', maxLength: TEXT_CHARS_MAX },
      tenant_id: tenantId,
    },
  },
  output: {
    type: 'object',
    required: verdictRequired,
    properties: {
      ...verdictProperties,
      modified_text: {
        type: 'string',
        description: 'The text as rules change it; only when it was changed.',
      },
    },
  },
  example: { text: 'Use key sk-ABCDEF1234567890' },
  answer: null,
  refusals: ['invalid_request'],
  async run({ text, tenant_id }, context) {
    requireOperator(context);
    const acting = { agent_id: AGENT_ID, ...(tenant_id != null && { tenant_id }) };
    const crossing = readTextCrossing('input', { kind: 'text', text }, acting, context);
    const { runtime, caller } = context;
    const ruling = await runtime.enforce(crossing, caller, 'scan_input', null, { self_test: true });
    const reply = buildVerdictReply({ ruling, crossing }, true);
    const changed = findChangedContent(ruling.verdict);
    return changed?.kind === 'text' ? { ...reply, modified_text: changed.text } : reply;
  },
});

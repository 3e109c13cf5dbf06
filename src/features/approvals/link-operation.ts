import { Type } from '../../core/schema.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { openApprovalLinks } from './link.ts';
import { approvalRequestIdSchema } from './operations.ts';

export const approvalsOpen = defineOperation({
  name: 'approvals_open',
  summary: 'Open an approval request from a message',
  description:
    'The signed link of a message leads here, and on to the page of the request in the console, which asks for sign-in. The link changes nothing and shows nothing of the request.',
  http: { method: 'GET', path: '/v1/approvals/{request_id}/open', redirects: true },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    request_id: approvalRequestIdSchema,
    expires: Type.Integer({ minimum: 0, description: 'The end of the request, in milliseconds since 1970.' }),
    signature: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', maxLength: 43 }),
  }),
  output: Type.Object({ location: Type.String({ description: 'The page of the request.' }) }),
  example: { request_id: 'apr_0123456789abcdef01234567', expires: 0, signature: 'A'.repeat(43) },
  answer: null,
  refusals: ['forbidden'],
  run({ request_id, expires: expiresMs, signature }, { runtime }) {
    const links = openApprovalLinks(runtime.limits.state_dir, '');
    if (links.verify({ request_id, expires_ms: expiresMs, signature }, runtime.now_ms()))
      return { location: `/dashboard/approvals/${request_id}` };
    throw new Refusal(
      'forbidden',
      'The link is not one of this service, or its request has expired. Open `/dashboard/approvals` instead.',
    );
  },
});

import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { requireBrowser } from './sign-in-operations.ts';

const location = Type.Object({ location: Type.String() });

const parameter = Type.String({ maxLength: 4_096 });

export const authMethods = defineOperation({
  name: 'auth_methods',
  summary: 'List the ways to sign in',
  description: 'The sign-in methods of the sign-in page. Open to everyone.',
  http: { method: 'GET', path: '/v1/auth/methods' },
  permission: null,
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({
    password: Type.Boolean(),
    passkey: Type.Boolean(),
    oidc: Type.Nullable(
      Type.String({ description: 'The text of the button; `null`: no OpenID provider is configured.' }),
    ),
    needs_setup: Type.Boolean({
      description: 'There is no administrator yet: open the link that the start of the service printed.',
    }),
  }),
  example: {},
  answer: { password: true, passkey: true, oidc: null, needs_setup: true },
  run: async (_input, { runtime }) => {
    const accounts = await runtime.accounts();
    const { oidc } = accounts.settings;
    return {
      password: true,
      passkey: true,
      oidc: oidc?.name ?? null,
      needs_setup: !(await accounts.hasAdministrator()),
    };
  },
});

export const authOidcStart = defineOperation({
  name: 'auth_oidc_start',
  summary: 'Begin to sign in at the OpenID provider',
  description: 'Sends the browser to the provider. `return_to` is a path of the console.',
  http: { method: 'GET', path: '/v1/auth/oidc/start', redirects: true },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    return_to: Type.Optional(Type.String({ maxLength: 2_048, description: 'Default `/dashboard`.' })),
  }),
  output: location,
  example: {},
  answer: null,
  refusals: ['forbidden', 'not_configured', 'too_many_requests'],
  run: async ({ return_to = '/dashboard' }, context) => {
    const browser = requireBrowser(context);
    const started = await (await requireOidc(context)).startOidc(return_to, browser);
    if (started === null) throw new Refusal('too_many_requests', 'Too many attempts from this address.');
    browser.setOidcState(started.binding);
    return { location: started.location };
  },
});

export const authOidcCallback = defineOperation({
  name: 'auth_oidc_callback',
  summary: 'Finish a sign-in at the OpenID provider',
  description:
    'The provider sends the browser here. Begins a session and continues to the console, or back to the sign-in page with `?error=`.',
  http: { method: 'GET', path: '/v1/auth/oidc/callback', redirects: true },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    code: Type.Optional(parameter),
    state: Type.Optional(Type.String({ maxLength: 256 })),
    iss: Type.Optional(parameter),
    error: Type.Optional(parameter),
    error_description: Type.Optional(parameter),
  }),
  output: location,
  example: { code: 'c', state: 's' },
  answer: null,
  refusals: ['forbidden', 'not_configured'],
  run: async ({ code, state, iss, error, error_description }, context) => {
    const browser = requireBrowser(context);
    const accounts = await requireOidc(context);
    const answer = { code, state, iss, error, error_description };
    const result = await accounts.finishOidc(answer, browser, browser.oidc_state);
    browser.setOidcState(null);
    if (result.outcome === 'failed') return { location: `/dashboard/sign-in?error=${result.failure}` };
    browser.setSession(result.session_token);
    browser.setDevice(result.device_token);
    return { location: result.return_to };
  },
});

async function requireOidc({ runtime }: Context) {
  const accounts = await runtime.accounts();
  if (accounts.settings.oidc === null)
    throw new Refusal('not_configured', 'No OpenID provider is configured: see `auth.oidc`.');
  return accounts;
}

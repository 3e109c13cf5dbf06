// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import type { Static } from 'typebox';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { durationSchema, nameListSchema, urlSchema } from '../../platform/schema-parts.ts';
import { isSecureAddress } from '../../runtime/config/address-checks.ts';
import type { ValueProblem } from '../../runtime/config/parse-config-value.ts';
import { ROLES } from '../../runtime/config/permissions.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

type SignInSettings = Static<typeof accountsSchema>;

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly auth: SignInSettings;
  }
}

const claim = Type.String({ minLength: 1, maxLength: 256 });

/** `auth.session`: the sessions of people who signed in. */
const sessionSchema = buildSection(
  {
    idle_timeout: {
      ...durationSchema,
      default: '1h',
      description: 'A session ends after this time without a request.',
    },
    absolute_timeout: {
      ...durationSchema,
      default: '12h',
      description: 'A session ends this long after the sign-in, at most `30d`.',
    },
  },
  { description: 'Sessions of people who signed in to the console. A change needs a restart.', default: {} },
);

/** `auth.sign_in`: the limits of attempts to sign in. */
const signInSchema = buildSection(
  {
    attempts_per_account_max: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: 'Attempts on one account that are verified at once. Later ones are delayed.',
    }),
    attempts_per_address_max: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 100,
      description:
        'Attempts from one IP address that are verified at once, on devices that are not known. Not counted on loopback.',
    }),
    attempts_window: {
      ...durationSchema,
      default: '15m',
      description: 'Both counts start again after this time without an attempt.',
    },
    attempt_delay: {
      ...durationSchema,
      default: '10s',
      description:
        'Over a limit, one attempt on an account is verified in this time, one code of an app in six times this time, and one attempt from an address in a tenth of it.',
    },
    link_ttl: { ...durationSchema, default: '1h', description: 'Time for which a one-time link is valid.' },
    totp_key: Type.Optional(
      Type.String({
        minLength: 32,
        maxLength: 1_024,
        'x-credential': true,
        description:
          'Encrypts the secrets of authenticator apps in the store, 32 characters or more. Default: the file `totp-key` in the state folder. Services that share a store need the same one.',
      }),
    ),
  },
  {
    description: 'Limits of attempts to sign in, and the key of second factors. A change needs a restart.',
    default: {},
  },
);

/** `auth.oidc`: sign-in at an OpenID provider. */
const oidcSchema = Type.Nullable(
  buildSection(
    {
      issuer: { ...urlSchema, description: 'The issuer; its discovery document gives all other addresses.' },
      client_id: Type.String({ minLength: 1, maxLength: 512, description: 'The client’s name there.' }),
      client_secret: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 4096,
          'x-credential': true,
          description:
            'The client’s secret, as `${NAME}`. Leave it out for a public client, which has PKCE alone.',
        }),
      ),
      name: Type.String({
        minLength: 1,
        maxLength: 64,
        default: 'Single sign-on',
        description: 'The text of the button.',
      }),
      scopes: {
        ...nameListSchema,
        default: ['openid', 'profile', 'email'],
        description: 'The scopes to request; `openid` is required.',
      },
      claims: buildSection(
        {
          user: { ...claim, default: 'email', description: 'The name of the user.' },
          name: { ...claim, default: 'name', description: 'The name for people.' },
          roles: { ...claim, default: 'groups', description: 'A string or a list, for `role_mapping`.' },
          tenants: { ...claim, default: 'tenants', description: 'A string or a list, for `tenant_mapping`.' },
        },
        { default: {}, description: 'Dotted names of the claims in the ID token.' },
      ),
      role_mapping: Type.Record(Type.String(), buildEnum(ROLES), {
        default: {},
        description:
          'The role for a value of the claim, `{safety-admins: admin}`. Other values give no role.',
      }),
      tenant_mapping: Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 256 }), {
        default: {},
        description: 'The tenant for a value of the claim; `*` for all. Other values give no tenant.',
      }),
      default_roles: Type.Array(buildEnum(ROLES), {
        maxItems: 10,
        default: [],
        description: 'The roles of a user for whom the mapping gives none. Without any, the user is refused.',
      }),
      default_tenants: {
        ...nameListSchema,
        default: [],
        description:
          'The tenants of a user for whom the mapping gives none. Without any, the user is refused.',
      },
      clock_tolerance_seconds: Type.Integer({
        minimum: 0,
        maximum: 300,
        default: 30,
        description: 'Accepted difference between clocks, in seconds.',
      }),
    },
    { description: 'Sign-in at an OpenID provider. A change needs a restart.' },
  ),
  { default: null },
);

const accountsSchema = buildSection({
  oidc: oidcSchema,
  session: sessionSchema,
  sign_in: signInSchema,
});

const DAY_MS = 86_400_000;

function findSignInProblems({ oidc, session, sign_in }: SignInSettings): readonly ValueProblem[] {
  const idleMs = parseDurationMs(session.idle_timeout);
  const absoluteMs = parseDurationMs(session.absolute_timeout);
  const problems: readonly (readonly [boolean, readonly string[], string])[] = [
    [absoluteMs > 30 * DAY_MS, ['session', 'absolute_timeout'], 'must be at most `30d`'],
    [idleMs > absoluteMs, ['session', 'idle_timeout'], 'is longer than `absolute_timeout`'],
    [parseDurationMs(sign_in.link_ttl) > 7 * DAY_MS, ['sign_in', 'link_ttl'], 'must be at most `7d`'],
    [oidc !== null && !isSecureAddress(oidc.issuer), ['oidc', 'issuer'], 'must begin with `https://`'],
    [oidc?.scopes.includes('openid') === false, ['oidc', 'scopes'], 'must contain `openid`'],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, steps, message]) => ({ steps, message }));
}

/** The keys of `auth` for people who sign in. */
export const accountsSection = defineConfigSection({
  name: 'auth',
  schema: accountsSchema,
  findProblems: findSignInProblems,
});

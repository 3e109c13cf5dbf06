import type { Configuration } from 'openid-client';
import type { OidcSettings } from './types.ts';

type Library = typeof import('openid-client');

/** The package that signs in at an OpenID provider is not installed. */
export class MissingPackage extends Error {}

/** A sign-in that has begun at the provider. The values prove that the answer belongs to it. */
export interface OidcRequest {
  readonly url: string;
  readonly state: string;
  readonly nonce: string;
  readonly code_verifier: string;
}

/** The claims of the provider about a user. */
export interface OidcClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** An OpenID provider, whose addresses come from its discovery document. */
export interface OpenIdProvider {
  readonly begin: (redirectUri: string) => Promise<OidcRequest>;
  /** Exchanges the code of an answer, and verifies the ID token. Rejects for anything that is not valid. */
  readonly finish: (
    answer: URL,
    expected: Pick<OidcRequest, 'state' | 'nonce' | 'code_verifier'>,
  ) => Promise<OidcClaims>;
  /** Returns the address at which the provider signs the user out; `null` if it has none. */
  readonly signOutUrl: (backTo: string) => string | null;
}

/** Seconds for one request to the provider. */
const TIMEOUT_SECONDS = 10;

/** Reads the provider's discovery document. Rejects if the provider cannot be reached. */
export async function openOpenIdProvider(settings: OidcSettings): Promise<OpenIdProvider> {
  const library = await loadLibrary();
  const config = await discoverProvider(library, settings);
  return {
    begin: async (redirectUri) => {
      const state = library.randomState();
      const nonce = library.randomNonce();
      const codeVerifier = library.randomPKCECodeVerifier();
      const codeChallenge = await library.calculatePKCECodeChallenge(codeVerifier);
      const scope = settings.scopes.join(' ');
      const pkce = { code_challenge: codeChallenge, code_challenge_method: 'S256' };
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        ...pkce,
      });
      return { url: url.href, state, nonce, code_verifier: codeVerifier };
    },
    finish: async (answer, { state, nonce, code_verifier }) => {
      const tokens = await library.authorizationCodeGrant(config, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: code_verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the answer has no ID token');
      return { issuer: claims.iss, subject: claims.sub, claims };
    },
    signOutUrl: (backTo) =>
      config.serverMetadata().end_session_endpoint === undefined
        ? null
        : library.buildEndSessionUrl(config, { post_logout_redirect_uri: backTo }).href,
  };
}

async function discoverProvider(library: Library, settings: OidcSettings): Promise<Configuration> {
  const { issuer, client_id, client_secret, clock_tolerance_seconds } = settings;
  const isLocal = issuer.startsWith('http:');
  return library.discovery(
    new URL(issuer),
    client_id,
    { [library.clockTolerance]: clock_tolerance_seconds },
    client_secret === undefined ? library.None() : authenticateClient(library, client_secret),
    {
      timeout: TIMEOUT_SECONDS,
      // The signature of the ID token is verified even though it comes from the provider itself over TLS.
      execute: [library.enableNonRepudiationChecks, ...(isLocal ? [library.allowInsecureRequests] : [])],
    },
  );
}

/** Sends the secret as the provider prefers. The standard's default is HTTP Basic. */
function authenticateClient(library: Library, secret: string): ReturnType<Library['ClientSecretBasic']> {
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Loads the library, which is an optional dependency. */
async function loadLibrary(): Promise<Library> {
  try {
    return await import('openid-client');
  } catch (fault) {
    if ((fault as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw fault;
    throw new MissingPackage('Sign-in at an OpenID provider needs a package: npm install openid-client');
  }
}

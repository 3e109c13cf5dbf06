/** A real OpenID provider in this process, which signs its one user in without a page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import Provider from 'oidc-provider';

export interface TestProvider {
  readonly issuer: string;
  /** The claims of the user; a test changes them. */
  readonly claims: Record<string, unknown>;
}

/** Starts the provider with one confidential client, which must use PKCE. */
export async function startOpenIdProvider(
  t: TestContext,
  client: { readonly id: string; readonly secret: string; readonly origin: string },
): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const claims: Record<string, unknown> = { sub: 'subject-1' };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${client.origin}/v1/auth/oidc/callback`],
        post_logout_redirect_uris: [`${client.origin}/dashboard/sign-in`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { profile: ['name'], email: ['email', 'email_verified'], openid: ['sub', 'groups', 'tenants'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key for tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ ...claims, sub: accountId }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
  });
  const answer = provider.callback();
  server.on('request', async (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return answer(request, response);
    const { prompt, params, grantId } = await provider.interactionDetails(request, response);
    const accountId = String(claims.sub);
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId } });
    const grant =
      (grantId !== undefined && (await provider.Grant.find(grantId))) ||
      new provider.Grant({ accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { issuer, claims };
}

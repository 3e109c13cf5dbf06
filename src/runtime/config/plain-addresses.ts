import type { DocumentProblem } from '../../core/types/index.ts';
import type { SecretDriver } from '../../drivers/secrets/backend.ts';
import { secretDrivers } from '../../drivers/secrets/index.ts';
import type { PathStep } from './problem-path.ts';
import { buildConfigProblem } from './problem-text.ts';
import type { Config } from './schema.ts';
import type { AnyConfigSection, CredentialAddress } from './sections.ts';

/** Returns a warning for each URL over which a credential crosses the network unencrypted. */
export function findPlainAddresses(
  config: Config,
  sections: readonly AnyConfigSection[],
  lineOf: (steps: readonly PathStep[]) => number | undefined,
): DocumentProblem[] {
  const { secrets, telemetry, mcp, origin } = config;
  const places: readonly CredentialAddress[] = [
    ...listBackendAddresses(secrets),
    [
      telemetry.enabled && Object.keys(telemetry.headers).length > 0,
      telemetry.endpoint,
      ['telemetry', 'endpoint'],
      'the headers',
    ],
    ...mcp.servers.map(
      ({ url, bearer_token, headers }, i) =>
        [
          bearer_token !== undefined || Object.keys(headers).length > 0,
          url,
          ['mcp', 'servers', i, 'url'],
          'the headers',
        ] as const,
    ),
    ...sections.flatMap(({ name, listAddresses }) =>
      (listAddresses?.(config[name]) ?? []).map(
        ([isUsed, url, steps, what]): CredentialAddress => [isUsed, url, [name, ...steps], what],
      ),
    ),
  ];
  return places
    .filter(([isUsed, address]) => isUsed && address !== undefined && isPlain(address))
    .map(([, , steps, what]) => {
      const message = `is not \`https\`: ${what} cross the network in the clear`;
      return buildConfigProblem(origin.label, steps, message, lineOf(steps), 'warning');
    });
}

/** Returns the address of the secret backend in use, as a list of at most one. */
function listBackendAddresses(secrets: Config['secrets']): readonly CredentialAddress[] {
  const driver: SecretDriver | undefined = secretDrivers.find(({ name }) => name === secrets.backend);
  if (driver?.address_key === undefined) return [];
  const { section, address_key } = driver;
  const settings = secrets[section as keyof typeof secrets] as Readonly<Record<string, string>> | undefined;
  return [[true, settings?.[address_key], ['secrets', section, address_key], 'the token and the secrets']];
}

/** Returns whether a URL is unencrypted and leads to another machine. */
function isPlain(address: string): boolean {
  if (!address.startsWith('http://')) return false;
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return !/^(localhost|127\.[\d.]+|\[::1\])$/.test(host);
}

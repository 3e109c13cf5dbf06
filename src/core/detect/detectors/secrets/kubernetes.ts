import { decodeBase64 } from '../../../text/base64.ts';
import type { Severity } from '../../../types/index.ts';
import type { Detector } from '../../matching/detector.ts';
import { isStrongPassword } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

const LINES = '[ \\t]{1,12}["\']?[\\w.-]{1,120}["\']?:[^\\n]{1,4000}(?:\\n[ \\t][^\\n]{1,4000}){0,22}';
const KIND = 'kind: {1,4}["\']?Secret["\']?(?=\\s)';
const LINE = '(?:[^\\n]{0,200}\\n)';

/**
 * Secrets of Kubernetes: the data of `Secret` objects, keys in configurations, and the tokens with which nodes join.
 */
export const kubernetes: readonly Detector[] = [
  {
    id: 'kubernetes.secret_data',
    detector: 'credential_file',
    tags: ['secret.credential.credential_file.kubernetes'],
    severity: 'critical',
    grade: gradeData,
    strength: 'proof',
    description: 'The data of a Secret in a manifest of Kubernetes, whole, before its kind or behind it.',
    anchors: ['(?i)kind: ?["\']?secret', 'apiVersion: ?["\']?v1'],
    pattern: new RegExp(
      `(?:${KIND}${LINE}{1,20}?(?:data|stringData):[ \\t]{0,4}\\n(?<value>${LINES})|` +
        `apiVersion: {1,4}["']?v1["']?[ \\t]{0,4}\\n(?:data|stringData):[ \\t]{0,4}\\n(?<value2>${LINES})(?=\\n(?![ \\t])${LINE}{0,20}?${KIND}))`,
      'i',
    ),
    validate: hasData,
    examples: {
      hits: [
        'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n«  user: YWRh\n  pass: czNzYW1lOTk=»\n---\n',
        'apiVersion: v1\ndata:\n«  pass: czNzYW1lOTk=»\nkind: Secret\nmetadata:\n  name: a\n',
      ],
      misses: [
        'apiVersion: v1\nkind: ConfigMap\ndata:\n  user: YWRh\n',
        'apiVersion: v1\nkind: Secret\ndata:\n  csrf: ""\n',
        'kind: SecretStore\ndata:\n  user: YWRh\n',
        'apiVersion: v1\ndata:\n  user: YWRh\nkind: ConfigMap\n',
      ],
    },
  },
  {
    id: 'kubernetes.secret_data_in_json',
    detector: 'credential_file',
    tags: ['secret.credential.credential_file.kubernetes'],
    severity: 'critical',
    strength: 'proof',
    description: 'The same in JSON, as `kubectl get secret -o json` prints it.',
    // The data may precede the kind. The attempt starts at the data, so that a stream holds it back until the kind is
    // known.
    anchors: ['"kind": ?"Secret"', '"data":', '"stringData":'],
    pattern:
      /"(?:data|stringData)":\s{0,4}\{(?<value>[^{}]{16,4000})\},\s{0,40}"kind": ?"Secret"|"kind": ?"Secret"[\s\S]{1,1500}?(?:"data"|"stringData"):\s{0,4}\{(?<value2>[^{}]{16,4000})\}/,
    examples: {
      hits: [
        '{"apiVersion": "v1", "data": {«"pass": "czNzYW1lOTk="»}, "kind": "Secret"}',
        '{"kind":"Secret","metadata":{"name":"a"},"data":{«"pass":"czNzYW1lOTk="»}}',
      ],
      misses: [
        '{"data": {"pass": "czNzYW1lOTk="}, "kind": "ConfigMap"}',
        '{"kind": "Secret", "type": "Opaque"}',
      ],
    },
  },
  {
    id: 'kubernetes.client_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key.kubernetes'],
    severity: 'critical',
    strength: 'proof',
    description: 'The client key of a kubeconfig: base64 of a private key in PEM.',
    anchors: ['client-key-data'],
    pattern: /client-key-data["']?\s{0,3}:\s{0,3}["']?(?<value>[A-Za-z0-9+/]{60,8000}={0,2})/,
    validate: (value) => /^-----BEGIN [A-Z ]{0,20}PRIVATE KEY/.test(decodeBase64(value.slice(0, 60)) ?? ''),
    examples: {
      hits: [`    client-key-data: «${'LS0tLS1C'}${'RUdJTiBQUklWQVRFIEtFWS0tLS0t'}${sampleBody(60)}»\n`],
      misses: [`    client-key-data: ${sampleBody(80)}`, `client-certificate-data: ${sampleBody(80)}`],
    },
  },
  {
    id: 'kubernetes.bootstrap_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.kubernetes'],
    severity: 'critical',
    strength: 'proof',
    description: 'Bootstrap tokens of Kubernetes, six characters, a dot and sixteen, next to `token`.',
    anchors: ['--token[ =]', 'bootstrap-token'],
    pattern: /(?:--token|bootstrap-token)["']?[ =:]{1,3}["']?(?<value>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])/,
    examples: {
      hits: [
        `kubeadm join 10.1.1.1:6443 --token «${sampleBody(6, HEX_ALPHABET)}.${sampleBody(16, HEX_ALPHABET)}»`,
      ],
      misses: ['kubeadm token create --token short.one', `--token ${sampleBody(16, HEX_ALPHABET)}`],
    },
  },
];

/** Names of data that are not secrets: certificates, namespaces and users. */
const PUBLIC_NAME =
  /^(?:ca|tls|client|server)?[._-]?(?:ca)?\.?(?:crt|cert|pem)$|name(?:space)?$|user$|host$|region$|endpoint$/i;
/** Names of data that are secrets, whatever their value. */
const SECRET_NAME =
  /pass|pwd|token|secret|key|cred|auth|docker(?:config|cfg)|jwt|dsn|ur[il]|cookie|salt|private/i;
const NAMED_UNITS_MIN = 6;
const OTHER_UNITS_MIN = 12;

/** Returns the values of a Secret that can be secrets, decoded. Templates, certificates and names cannot. */
function listSecretValues(lines: string): readonly string[] {
  const found: string[] = [];
  for (const [, name, written] of lines.matchAll(
    /^[ \t]{1,12}["']?([\w.-]{1,120})["']?:[ \t]*(?:\|[-+]?[ \t]*\n[ \t]*(?=[A-Za-z0-9+/]{16,}={0,2}[ \t]*$))?["']?([^\s"'#|>]\S*?)["']?[ \t]*$/gm,
  )) {
    if (PUBLIC_NAME.test(name!) || isPlaceholder(written!)) continue;
    const value = readValue(written!);
    if ((isPlaceholder(value.trim()) && !value.startsWith('{"')) || isEmptyArmour(value)) continue;
    if (value.length >= (SECRET_NAME.test(name!) ? NAMED_UNITS_MIN : OTHER_UNITS_MIN)) found.push(value);
  }
  return found;
}

/** Decodes base64 of text; any other value is as written. */
function readValue(written: string): string {
  const decoded = /^[A-Za-z0-9+/]{4,}={0,2}$/.test(written) ? decodeBase64(written) : null;
  return decoded !== null && decoded !== '' ? decoded : written;
}

/** Returns whether a value is PEM armour without a key: a certificate, or nothing between the lines. */
function isEmptyArmour(value: string): boolean {
  if (!value.startsWith('-----BEGIN ')) return false;
  return !/PRIVATE KEY/.test(value) || !/[A-Za-z0-9+/]{40}/.test(value);
}

function hasData(lines: string): boolean {
  return listSecretValues(lines).length > 0;
}

function gradeData(lines: string): Severity {
  const isStrong = listSecretValues(lines).some(
    (value) => value.startsWith('-----BEGIN ') || isStrongPassword(value.trim()),
  );
  return isStrong ? 'critical' : 'medium';
}

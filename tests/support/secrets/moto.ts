import { spawn } from 'node:child_process';
import { freePort } from '../service.ts';
import { eventually } from './eventually.ts';

/** The variables that the SDK reads from the environment. */
export interface AwsKeys {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
  readonly AWS_REGION: string;
}

export interface Moto {
  readonly port: number;
  /** `right` has all permissions for secrets, `denied` has none. */
  readonly keys: { readonly right: AwsKeys; readonly denied: AwsKeys };
  readonly put: (name: string, text: string) => Promise<void>;
  readonly stop: () => void;
}

/** Returns keys that were never issued. */
export function awsKeys(word: string): AwsKeys {
  const id = ['AKIA', word.toUpperCase().padEnd(16, 'X')].join('');
  return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: word.repeat(8), AWS_REGION: 'eu-central-1' };
}

/** The number of requests without authentication, which create the users. */
const ACTIONS_BEFORE_AUTH = 5;

/**
 * Starts moto's server, which checks signatures and policies like AWS. For buckets use `isOpen`, which accepts every
 * credential: moto computes other signatures than the SDK for the lists of a bucket.
 */
export async function startMoto(program: string, isOpen = false): Promise<Moto> {
  const port = await freePort();
  const actions = isOpen ? 1e9 : ACTIONS_BEFORE_AUTH;
  const env = { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: `${actions}` };
  const child = spawn(program, ['-H', '127.0.0.1', '-p', `${port}`], { env, stdio: 'ignore' });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => void (await (await fetch(`${url}/moto-api/`)).text()));
  const right = await makeUser(url, 'reader', true);
  const denied = await makeUser(url, 'stranger', false);
  const sdk = await import('@aws-sdk/client-secrets-manager');
  const client = new sdk.SecretsManagerClient({
    region: right.AWS_REGION,
    endpoint: url,
    credentials: { accessKeyId: right.AWS_ACCESS_KEY_ID, secretAccessKey: right.AWS_SECRET_ACCESS_KEY },
  });
  const put = async (secretId: string, secretString: string): Promise<void> => {
    try {
      await client.send(new sdk.PutSecretValueCommand({ SecretId: secretId, SecretString: secretString }));
    } catch (error) {
      if ((error as Error).name !== 'ResourceNotFoundException') throw error;
      await client.send(new sdk.CreateSecretCommand({ Name: secretId, SecretString: secretString }));
    }
  };
  const stop = () => {
    client.destroy();
    process.removeListener('exit', end);
    end();
  };
  return { port, keys: { right, denied }, put, stop };
}

async function makeUser(url: string, userName: string, mayRead: boolean): Promise<AwsKeys> {
  await iam(url, { Action: 'CreateUser', UserName: userName });
  const made = await iam(url, { Action: 'CreateAccessKey', UserName: userName });
  const statement = { Effect: 'Allow', Action: 'secretsmanager:*', Resource: '*' };
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  if (mayRead)
    await iam(url, { Action: 'PutUserPolicy', UserName: userName, PolicyName: 'secrets', PolicyDocument });
  const member = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(made)?.[1] ?? '';
  return {
    AWS_ACCESS_KEY_ID: member('AccessKeyId'),
    AWS_SECRET_ACCESS_KEY: member('SecretAccessKey'),
    AWS_REGION: 'eu-central-1',
  };
}

async function iam(url: string, question: Readonly<Record<string, string>>): Promise<string> {
  const scope = `${awsKeys('nobody').AWS_ACCESS_KEY_ID}/20260131/us-east-1/iam/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const body = new URLSearchParams({ ...question, Version: '2010-05-08' });
  const answer = await fetch(url, { method: 'POST', headers: { authorization }, body });
  if (!answer.ok) throw new Error(`${question.Action}: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

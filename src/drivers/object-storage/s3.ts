import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { awaitWithSignal } from '../../platform/await-with-signal.ts';
import { createLazyValue } from '../../platform/lazy.ts';

/** The stable error codes of object storage. */
export type ObjectStorageFailureCode =
  /** The package is not installed, or the bucket does not exist. */
  | 'object_storage_setup'
  /** It rejects the credentials, or they do not permit the request. */
  | 'object_storage_denied'
  /** It cannot be reached, or cannot answer now. */
  | 'object_storage_unavailable'
  /** It refuses the request, or its answer is not as expected. */
  | 'object_storage_answer';

/** An expected failure of object storage. The message is a sentence without credentials or content. */
export class ObjectStorageFailure extends Error {
  readonly code: ObjectStorageFailureCode;
  constructor(code: ObjectStorageFailureCode, message: string) {
    super(message);
    this.name = 'ObjectStorageFailure';
    this.code = code;
  }
}

/** A bucket of a service with the API of Amazon S3. */
export interface BucketSettings {
  readonly bucket: string;
  readonly region: string;
  /** The base address of a service that is compatible with S3; that of AWS by default. */
  readonly endpoint?: string | undefined;
  /** Names the bucket in the path and not in the host name, as services on one address need it. */
  readonly path_style: boolean;
}

/** A file to store as an object. */
export interface NewObject {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the file, base64. The storage refuses other bytes. */
  readonly sha256: string;
  readonly content_type: string;
  /** ASCII. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Object lock: the storage refuses to delete or replace the object before this time, in milliseconds since 1970. */
  readonly locked_until?: { readonly mode: 'governance' | 'compliance'; readonly time_ms: number } | null;
}

/** An object in a list. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** A bucket. Every call can reject with an `ObjectStorageFailure`, and ends when its signal is aborted. */
export interface Bucket {
  /** Stores a file, unless an object has this key. Returns `false` if one has. */
  readonly createObject: (object: NewObject, signal: AbortSignal) => Promise<boolean>;
  /** Returns the metadata of an object; `null` if there is none. */
  readonly readMetadata: (
    key: string,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | null>;
  /** Lists objects in the order of their keys. `after` is the key after which the list starts. */
  readonly listObjects: (
    prefix: string,
    signal: AbortSignal,
    after?: string,
  ) => AsyncGenerator<StoredObject, void>;
  /** Lists the names that follow `prefix` up to the next `/`. */
  readonly listFolders: (prefix: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Returns the bytes of an object, whose checksum is verified at the end. */
  readonly openObject: (key: string, signal: AbortSignal) => Promise<Readable>;
  readonly close: () => void;
}

/** The attempts at each request, the first included. */
const ATTEMPTS_MAX = 3;
const CONNECT_MS_MAX = 5_000;
/** The longest silence of a connection. */
const SILENCE_MS_MAX = 30_000;
/** The keys that one answer lists. */
const PAGE_KEYS = 1_000;

/** Files up to this size are read into memory, so that the SDK can send them again. */
const MEMORY_BYTES_MAX = 16_777_216;

/** The SDK writes its warnings to standard error by default. Every failure is an error of the call anyway. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Opens a bucket through the SDK of AWS, which finds credentials in the usual places: environment, profile, role. The
 * SDK is loaded on first use.
 */
export function openBucket(settings: BucketSettings): Bucket {
  const { bucket, region, endpoint, path_style } = settings;
  const connection = createLazyValue(async () => {
    const sdk = await loadSdk();
    const client = new sdk.S3Client({
      region,
      maxAttempts: ATTEMPTS_MAX,
      forcePathStyle: path_style,
      ...(endpoint !== undefined && { endpoint }),
      requestHandler: { connectionTimeout: CONNECT_MS_MAX, socketTimeout: SILENCE_MS_MAX },
      logger: SILENT,
      // Services other than that of AWS refuse the trailing checksums that are the default.
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    return { sdk, client };
  });
  const call = async <Answer>(
    signal: AbortSignal,
    send: (sdk: Sdk, client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> => {
    signal.throwIfAborted();
    const { sdk, client } = await connection.open();
    try {
      return await awaitWithSignal(send(sdk, client, { abortSignal: signal }), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw buildFailure(error, bucket);
    }
  };
  const listPage = (
    signal: AbortSignal,
    request: { prefix: string; after?: string | undefined; token?: string | undefined; folders?: true },
  ) =>
    call(signal, (sdk, client, options) =>
      client.send(
        new sdk.ListObjectsV2Command({
          ...{ Bucket: bucket, Prefix: request.prefix, MaxKeys: PAGE_KEYS },
          ...(request.folders && { Delimiter: '/' }),
          ...(request.after !== undefined && { StartAfter: request.after }),
          ...(request.token !== undefined && { ContinuationToken: request.token }),
        }),
        options,
      ),
    );
  return {
    createObject: async (object, signal) => {
      try {
        await call(signal, async (sdk, client, options) =>
          client.send(new sdk.PutObjectCommand(await buildPut(bucket, object)), options),
        );
        return true;
      } catch (error) {
        if (error instanceof ObjectExists) return false;
        throw error;
      }
    },
    readMetadata: async (key, signal) => {
      try {
        const { Metadata = {} } = await call(signal, (sdk, client, options) =>
          client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }), options),
        );
        return Metadata;
      } catch (error) {
        if (error instanceof ObjectMissing) return null;
        throw error;
      }
    },
    listObjects: async function* (prefix, signal, after) {
      let token: string | undefined;
      do {
        const page = await listPage(signal, { prefix, after, token });
        for (const { Key, Size } of page.Contents ?? [])
          if (Key !== undefined) yield { key: Key, bytes: Size ?? 0 };
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    listFolders: async (prefix, signal) => {
      const names: string[] = [];
      let token: string | undefined;
      do {
        const page = await listPage(signal, { prefix, token, folders: true });
        for (const { Prefix = '' } of page.CommonPrefixes ?? [])
          names.push(Prefix.slice(prefix.length).replace(/\/$/, ''));
        token = page.NextContinuationToken;
      } while (token !== undefined);
      return names;
    },
    openObject: async (key, signal) => {
      const { Body } = await call(signal, (sdk, client, options) =>
        client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' }), options),
      );
      if (Body instanceof Readable) return Body;
      throw new ObjectStorageFailure('object_storage_answer', 'The object storage has sent no content.');
    },
    close: () => void connection.ifOpened(({ client }) => client.destroy()),
  };
}

async function buildPut(bucket: string, object: NewObject) {
  const { key, path, bytes, sha256, content_type, metadata, locked_until = null } = object;
  return {
    ...{ Bucket: bucket, Key: key, IfNoneMatch: '*' },
    ...{ Body: bytes <= MEMORY_BYTES_MAX ? await readFile(path) : createReadStream(path) },
    ...{ ContentLength: bytes, ContentType: content_type, Metadata: { ...metadata } },
    ...{ ChecksumAlgorithm: 'SHA256' as const, ChecksumSHA256: sha256 },
    ...(locked_until !== null && {
      ObjectLockMode: locked_until.mode === 'compliance' ? ('COMPLIANCE' as const) : ('GOVERNANCE' as const),
      ObjectLockRetainUntilDate: new Date(locked_until.time_ms),
    }),
  };
}

/** An object has the key already, or another writer is storing one now. */
class ObjectExists extends Error {}
class ObjectMissing extends Error {}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch {
    throw new ObjectStorageFailure(
      'object_storage_setup',
      'Object storage needs the package `@aws-sdk/client-s3`; install it next to the service with npm.',
    );
  }
}

const DENIED = /AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|Credentials/;

/** Maps an error of the SDK to a failure. Drops its message, which repeats names of accounts and roles. */
function buildFailure(error: unknown, bucket: string): Error {
  if (error instanceof ObjectStorageFailure) return error;
  const name = error instanceof Error ? error.name : '';
  const status = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
  if (status === 412 || status === 409) return new ObjectExists();
  if (name === 'NoSuchBucket')
    return new ObjectStorageFailure(
      'object_storage_setup',
      `There is no bucket \`${bucket}\`. Create it, or correct \`audit.object_storage.bucket\`.`,
    );
  if (status === 404) return new ObjectMissing();
  if (DENIED.test(name) || status === 401 || status === 403)
    return new ObjectStorageFailure(
      'object_storage_denied',
      `The bucket \`${bucket}\` does not accept these credentials. Check where the SDK finds them, and that they may \`s3:PutObject\`, \`s3:GetObject\` and \`s3:ListBucket\`.`,
    );
  const isRefused = status !== undefined && status < 500 && !/SlowDown|Throttl|TooMany/.test(name);
  return isRefused
    ? new ObjectStorageFailure(
        'object_storage_answer',
        `The object storage refuses the request (${/^\w{1,64}$/.test(name) ? name : status}).`,
      )
    : new ObjectStorageFailure(
        'object_storage_unavailable',
        'The object storage cannot be reached, or cannot answer now.',
      );
}

import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { durationSchema, urlSchema } from '../../platform/schema-parts.ts';

/** `audit.object_storage`: the bucket that keeps copies of the closed journal files. */
export const objectStorageSchema = Type.Optional(
  buildSection(
    {
      bucket: Type.String({
        pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
        'x-expects': 'must be the name of a bucket, without `s3://` and without a path',
        description: 'Bucket of a service with the API of Amazon S3.',
      }),
      prefix: Type.String({
        pattern: '^([A-Za-z0-9_.=-]+(/[A-Za-z0-9_.=-]+)*)?$',
        maxLength: 256,
        default: '',
        'x-expects': 'must be a path such as `audit/production`, without `/` at its ends',
        description: 'Path in the bucket under which the log lies.',
      }),
      region: Type.String({
        pattern: '^[A-Za-z0-9-]{1,64}$',
        default: 'us-east-1',
        'x-expects': 'must be the name of a region, such as `eu-central-1`',
        description: 'Region of the bucket.',
      }),
      endpoint: Type.Optional({
        ...urlSchema,
        description:
          'Base address of a service other than AWS. Its requests need `https://`, except on this machine.',
      }),
      path_style: Type.Boolean({
        default: false,
        description: '`true` names the bucket in the path, as most services other than AWS need it.',
      }),
      seal_after: {
        ...durationSchema,
        default: '5m',
        description:
          'A journal file with events is closed after this time, and then shipped. A lost machine loses at most the events of this time.',
      },
      object_lock: Type.Optional(
        buildSection(
          {
            mode: buildEnum(['governance', 'compliance'], {
              description:
                '`governance`: people with a special permission can delete objects earlier. `compliance`: not even the owner of the account can.',
            }),
            days: Type.Integer({
              minimum: 1,
              maximum: 36_500,
              description: 'Days for which the objects cannot be deleted or replaced.',
            }),
          },
          { description: 'Object lock, for a bucket that has it.' },
        ),
      ),
    },
    {
      description:
        'Object storage for copies of the closed journal files ([guide](../how-to/ship-the-audit-log.md)). Retention then deletes only files that are there. Credentials come from the environment, a profile or a role, as the SDK of AWS finds them. A change needs a restart.',
    },
  ),
);

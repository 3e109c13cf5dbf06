import type { Static, TSchema } from 'typebox';
import type { Validator } from 'typebox/schema';
import { findParsedText, hasHiddenMembers } from '../core/json/value-source.ts';
import { describeBodyTypes, describeLimit } from '../core/policy/compile/schema-messages.ts';
import type { Json } from '../core/types/index.ts';
import { StoreFailure } from '../platform/store/failure.ts';
import { Unavailable } from '../platform/unavailable.ts';
import type { Caller } from '../runtime/access/types.ts';
import { identifyUser, isSignedIn } from '../runtime/access/users.ts';
import { AuditFailure, type AuditFailureCode } from '../runtime/audit/failure.ts';
import { OPERATOR_PERMISSIONS, type Permission } from '../runtime/config/permissions.ts';
import { readCheckBody } from './check-body.ts';
import {
  type AnyOperation,
  type Context,
  isDecisionOperation,
  type Operation,
  Refusal,
} from './operation.ts';
import { dropBlankName, requireAllTenants } from './subject.ts';

/** The part of a validator's error that is used here. */
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: unknown;
}

/** The parts of JSON Schema by which inputs nest. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  /** The phrase that follows the name of a value that does not match the pattern. */
  readonly 'x-expects'?: string;
}

/**
 * Runs an operation for every transport. It checks that the operation is available, then the caller's permission, then
 * the shape of the input. `raw` is the input as the transport read it, or `undefined` if there was none.
 * `resolveSubject` checks the credential's scope (agents and tenants) later, when the operation runs, because the input
 * names them. Rejects with a `Refusal` for an expected error.
 */
export async function callOperation<Input extends TSchema, Output extends TSchema>(
  operation: Operation<Input, Output>,
  raw: unknown,
  requested: Context,
): Promise<Static<Output>> {
  const refusal = operation.unavailable?.(requested.runtime);
  if (refusal) throw refusal;
  const context = isForUser(operation, requested) ? asUser(requested) : requested;
  requirePermission(operation, context);
  const given = raw === undefined ? {} : raw;
  if (isDecisionOperation(operation)) refuseDuplicateMembers(given as Json);
  const { check_body } = operation;
  const input = check_body === undefined ? given : readCheckBody(operation.input, check_body, given);
  // A call without input, such as a health check, does not wait until the validators are loaded.
  const hasNoInput = takesNoInput(operation) && isPlainObject(input);
  if (!hasNoInput) {
    const validator = validators.get(operation) ?? (await compileValidator(operation));
    if (!validator.Check(input))
      throw buildInvalidRefusal(validator.Errors(clipValue(operation.input, input))[1], operation.input);
  }
  requireTenantsOfInput(operation, input, context);
  try {
    return await operation.run((hasNoInput ? {} : input) as Static<Input>, context);
  } catch (error) {
    throw findUnavailableRefusal(error) ?? error;
  }
}

const NOT_CONFIGURED: readonly AuditFailureCode[] = ['audit_disabled', 'index_off'];
const UNUSABLE_INDEX: readonly AuditFailureCode[] = [
  'index_damaged',
  'index_foreign',
  'index_missing',
  'index_newer',
];

/**
 * Returns the refusal for an error that means "temporarily unavailable" or "not configured"; `null` for any other
 * error.
 */
export function findUnavailableRefusal(error: unknown): Refusal | null {
  if (error instanceof AuditFailure) {
    if (NOT_CONFIGURED.includes(error.code)) return new Refusal('not_configured', error.message);
    if (UNUSABLE_INDEX.includes(error.code)) return new Refusal('unavailable', error.message);
  }
  const isExpected = error instanceof Unavailable || error instanceof StoreFailure;
  return isExpected ? new Refusal('unavailable', error.message) : null;
}

/**
 * Refuses duplicate member names: only one of the two values would be judged, and parsers disagree on which one counts.
 */
export function refuseDuplicateMembers(input: Json): void {
  const text = findParsedText(input);
  if (text === null || !hasHiddenMembers(text, input)) return;
  throw new Refusal('invalid_request', 'An object in the body has two members of one name.');
}

function takesNoInput({ input }: AnyOperation): boolean {
  return Object.keys(input.properties ?? {}).length === 0;
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Compiles the validators ahead of time, so that the first call of each operation is fast. */
export async function compileValidators(operations: readonly AnyOperation[]): Promise<void> {
  for (const operation of operations) await compileValidator(operation);
}

function isForUser({ for_users }: AnyOperation, { user_id }: Context): boolean {
  return for_users === true || (for_users === 'if_named' && dropBlankName(user_id) !== null);
}

/** Returns the context with the user whom the caller names in place of the caller. */
function asUser(context: Context): Context {
  const user = identifyUser(context.caller, context.user_id, context.runtime.users);
  if ('refused' in user) throw new Refusal(user.refused, user.reason);
  return { ...context, caller: user };
}

function requirePermission(operation: AnyOperation, context: Context): void {
  const needed = operation.permission;
  if (needed === null || context.caller.permissions.includes(needed)) {
    requireScope(operation, context);
    return;
  }
  if (needed === 'account:own' && context.caller.kind === 'anonymous')
    throw new Refusal('unauthenticated', 'This is for users who signed in: sign in first.');
  throw new Refusal('forbidden', formatMissingPermission(needed, context.caller));
}

/** Checks the kind of caller and the tenants that the record names. */
function requireScope(operation: AnyOperation, context: Context): void {
  if (operation.caller === 'person' && context.caller.kind !== 'person')
    throw new Refusal('forbidden', 'This requires an operator, and the credential is that of a program.');
  if (operation.tenants === 'all') requireAllTenants(context);
}

/** Checks the tenants again if an operation's input may concern all tenants. */
function requireTenantsOfInput({ tenants }: AnyOperation, input: unknown, context: Context): void {
  if (typeof tenants !== 'object') return;
  const named = (input as Readonly<Record<string, string | null | undefined>>)[tenants.all_unless];
  if (dropBlankName(named) === null) requireAllTenants(context);
}

function formatMissingPermission(needed: Permission, caller: Caller): string {
  const { id, kind } = caller;
  if (isSignedIn(caller)) return `Your roles do not have the permission \`${needed}\`.`;
  if (needed === 'account:own') return 'This is for users who signed in: sign in first.';
  if (OPERATOR_PERMISSIONS.includes(needed))
    return 'This requires an operator: sign in, or send the operator token as `Authorization: Bearer`.';
  if (id.startsWith('user:')) return `The user’s role does not have the permission \`${needed}\`.`;
  if (kind === 'anonymous')
    return `This needs a credential with the permission \`${needed}\`: make one with \`customshouse token create\`, and send it as \`x-service-key\`.`;
  return `The credential does not have the permission \`${needed}\`.`;
}

const validators = new Map<AnyOperation, Validator>();

/**
 * Compiles the validator of an operation. The library is the heaviest import of a worker, so it is loaded on first use.
 */
async function compileValidator(operation: AnyOperation): Promise<Validator> {
  const { Compile } = await import('typebox/schema');
  const validator = Compile(operation.input);
  validators.set(operation, validator);
  return validator;
}

const ITEMS_MAX = 100;
const CHARS_MAX = 5_000;

/**
 * Returns the part of an input that an error report needs. Reporting takes far longer than validating: a list of a
 * million wrong items would cost seconds and gigabytes. Both bounds are above those of all schemas. Members that the
 * schema does not name are dropped, so that only the schema's own nesting is followed.
 */
function clipValue(schema: Schema, value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, CHARS_MAX);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.slice(0, ITEMS_MAX).map((one) => clipValue(items, one));
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(schema.properties ?? {}).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(
    known.map(([name, one]) => [name, clipValue(one, (value as Record<string, unknown>)[name])]),
  );
}

const DETAILS_MAX = 20;

function buildInvalidRefusal(errors: readonly SchemaError[], schema: Schema): Refusal {
  const details = errors.flatMap((error) => getDetails(error, schema)).slice(0, DETAILS_MAX);
  const first = details[0];
  if (first === undefined) return new Refusal('invalid_request', 'The request is not valid.');
  const subject = first.path === '' ? 'The request' : `\`${first.path}\``;
  return new Refusal('invalid_request', `${subject} ${first.message}.`, details);
}

/** Describes a validation error from the schema alone, so that no part of the input appears in the answer. */
function getDetails(error: SchemaError, schema: Schema): { path: string; message: string }[] {
  const path = formatPointer(error.instancePath);
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'required') {
    const missing = params.requiredProperties as readonly string[];
    return missing.map((name) => ({ path: path === '' ? name : `${path}.${name}`, message: 'is required' }));
  }
  const expects = error.keyword === 'pattern' ? findExpectation(schema, error.instancePath) : null;
  return [{ path, message: expects ?? getMessage(error.keyword, params) }];
}

/** Returns the phrase of the schema at a JSON pointer into an input; `null` if it has none. */
function findExpectation(schema: Schema, pointer: string): string | null {
  let at: Schema | undefined = schema;
  for (const part of pointer.split('/').slice(1)) at = at?.properties?.[part] ?? at?.items;
  return at?.['x-expects'] ?? null;
}

function getMessage(keyword: string, params: Record<string, unknown>): string {
  if (keyword === 'type') return describeBodyTypes([params.type].flat() as readonly string[]);
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).filter((value) => value !== null).join(', ')}`;
  if (keyword === 'pattern') return 'has characters that are not allowed there';
  return describeLimit(keyword, Number(params.limit)) ?? 'is not valid';
}

/** Formats a JSON pointer for people: `/data_tags/0` is `data_tags[0]`. */
function formatPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

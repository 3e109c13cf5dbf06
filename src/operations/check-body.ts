import type { Static, TSchema } from 'typebox';
import { rememberNestedSources, SOURCE_LIMITS } from '../core/json/value-source.ts';
import { suggestName } from '../core/policy/compile/problems.ts';
import { type Schema, Type } from '../core/schema.ts';
import type { Json } from '../core/types/index.ts';
import { type FieldAliases, Refusal } from './operation.ts';

/** The parts of a schema that list the members of a body. */
interface BodySchema {
  readonly properties?: Readonly<Record<string, MemberSchema>>;
  readonly required?: readonly string[];
}

interface MemberSchema extends Schema<unknown> {
  readonly properties?: object;
  readonly type?: unknown;
}

type Body = Readonly<Record<string, unknown>>;

const ANYTHING = Type.Unknown({ description: 'Free for the caller: not scanned and not forwarded.' });

/**
 * Makes the schema of the body of a check strict. Unknown members are refused, because no rule would judge them.
 * `metadata` and `x-*` are free, and optional members may be `null`.
 */
export function checkBody<Body extends TSchema>(schema: Body): Schema<Static<Body>> {
  return Type.Unsafe({
    ...buildStrictSchema(schema as BodySchema),
    description: 'Other members are refused, but for `metadata` and `x-*`.',
  });
}

function buildStrictSchema({ properties = {}, required = [], ...rest }: BodySchema): BodySchema {
  const written = Object.entries(properties).map(([name, property]) => {
    const inner =
      property.properties === undefined
        ? property
        : (buildStrictSchema(property as BodySchema) as typeof property);
    return [name, required.includes(name) ? inner : Type.Nullable(inner)] as const;
  });
  return {
    ...rest,
    ...(required.length > 0 && { required }),
    properties: { ...Object.fromEntries(written), metadata: ANYTHING },
    patternProperties: { '^x-': {} },
    additionalProperties: false,
  } as BodySchema;
}

/**
 * Returns the body with each member under its own name.
 * @throws Refusal if a member is unknown, or if a member is present under two names
 */
export function readCheckBody(schema: TSchema, aliases: FieldAliases, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const known = (schema as BodySchema).properties ?? {};
  const members = body as Body;
  refuseUnknown(members, Object.keys(known), aliases, '', known);
  for (const [name, { properties }] of Object.entries(known)) {
    const inner = members[name];
    if (properties === undefined || typeof inner !== 'object' || inner === null || Array.isArray(inner))
      continue;
    refuseUnknown(inner as Body, Object.keys(properties as object), {}, `${name}.`, known);
  }
  return renameMembers(members, aliases);
}

function refuseUnknown(
  members: Body,
  names: readonly string[],
  aliases: FieldAliases,
  place: string,
  known: NonNullable<BodySchema['properties']>,
): void {
  const all = [...names, ...Object.values(aliases).flat()];
  const taken = new Set(all);
  for (const name of Object.keys(members)) {
    if (taken.has(name) || name.startsWith('x-')) continue;
    throw buildUnknownMemberRefusal(name, place, all, known);
  }
}

/**
 * Builds the refusal for an unknown member. It shows the name only if a known one is similar: any other name could be a
 * misplaced secret.
 */
function buildUnknownMemberRefusal(
  name: string,
  place: string,
  names: readonly string[],
  known: NonNullable<BodySchema['properties']>,
): Refusal {
  const nested = place === '' ? suggestNestedName(name, known) : null;
  const others = names.filter((each) => each !== 'metadata');
  const nearest = nested ?? suggestName(name, others);
  const around = place === '' ? 'the body' : `\`${place.slice(0, -1)}\``;
  const shown = nearest === '' ? `A member of ${around}` : `\`${place}${name}\``;
  const advice = nearest === '' ? `; known are ${getList(names)}` : nearest.replace(/\?$/, '');
  const message = `is not known here, so it would not be checked${advice}`;
  const path = nearest === '' ? place.slice(0, -1) : `${place}${name}`;
  return new Refusal('invalid_request', `${shown} ${message}${nearest === '' ? '.' : '?'}`, [
    { path, message },
  ]);
}

/** Returns a hint that names the object to which the member belongs; `null` if no object has it. */
function suggestNestedName(name: string, known: NonNullable<BodySchema['properties']>): string | null {
  const owner = Object.keys(known).find((each) =>
    Object.hasOwn((known[each]!.properties ?? {}) as object, name),
  );
  return owner === undefined ? null : `; did you mean \`${owner}.${name}\`?`;
}

function getList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function renameMembers(members: Body, aliases: FieldAliases): Body {
  const renames = new Map<string, string>();
  for (const [name, others] of Object.entries(aliases)) {
    const given = [name, ...others].filter((each) => isGiven(members[each]));
    if (given.length > 1)
      throw new Refusal('invalid_request', `${getList(given)} are names of one thing: send one of them.`, [
        { path: given[1]!, message: `is another name of \`${given[0]}\`` },
      ]);
    for (const other of others) if (Object.hasOwn(members, other)) renames.set(other, name);
  }
  if (renames.size === 0) return members;
  // The new object has no source, but the members in it keep theirs.
  rememberNestedSources(members as Json, SOURCE_LIMITS, 1);
  const kept = Object.entries(members).filter(([name]) => !renames.has(name));
  const moved = [...renames].flatMap(([other, name]) =>
    isGiven(members[other]) ? [[name, members[other]] as const] : [],
  );
  return Object.fromEntries([...kept, ...moved]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Returns the schema as the API description shows it: every alias is a property too, and a required member may have any
 * of its names, but only of one. All others may be `null`.
 */
export function addAliases(schema: TSchema, aliases: FieldAliases | undefined): TSchema {
  if (aliases === undefined) return schema;
  const { properties = {}, required = [], ...rest } = schema as TSchema & BodySchema;
  const named = Object.entries(aliases).flatMap(([name, each]) => {
    const property = Type.Nullable(properties[name]!);
    const others = each.map(
      (other) => [other, { ...property, description: `Another name of \`${name}\`.` }] as const,
    );
    return [[name, property] as const, ...others];
  });
  const needed = required.filter((name) => aliases[name] === undefined);
  const oneOf = required.flatMap((name) => (aliases[name] === undefined ? [] : [[name, ...aliases[name]]]));
  return {
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    ...(oneOf.length > 0 && {
      allOf: oneOf.map((names) => ({
        oneOf: names.map((name) => ({
          required: [name],
          properties: { [name]: { type: properties[names[0]!]!.type } },
        })),
      })),
    }),
    properties: { ...properties, ...Object.fromEntries(named) },
  } as TSchema;
}

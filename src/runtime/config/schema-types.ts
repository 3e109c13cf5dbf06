import type { Schema } from '../../core/schema.ts';

/**
 * The subset of JSON Schema that describes the configuration, and the type of a validated value. The schema is plain
 * data, so it does not slow the start down, and editors use the same text.
 */

/** The part of JSON Schema (2020-12) that the configuration is written in. */
export interface ConfigSchema {
  readonly type?: TypeName | readonly TypeName[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Replaces the pattern in messages: "must be the name of an environment variable". */
  readonly 'x-expects'?: string;
  /**
   * `true`: the value is a credential. It must be a `${NAME}` or `${secret:name}` reference, and no message repeats it.
   */
  readonly 'x-credential'?: boolean;
  /** `true`: the text is literal; references such as `${NAME}` in it are not replaced. */
  readonly 'x-verbatim'?: boolean;
  readonly items?: ConfigSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: { readonly [key: string]: ConfigSchema };
  readonly patternProperties?: { readonly [pattern: string]: ConfigSchema };
  readonly required?: readonly string[];
  /** `false`: no keys other than the named ones and `x-*`; a schema: any key, with this value. */
  readonly additionalProperties?: false | ConfigSchema;
  readonly propertyNames?: { readonly pattern: string };
  readonly maxProperties?: number;
  /** The alternatives. Each has a property `type` with a different `const`. */
  readonly oneOf?: readonly ConfigSchema[];
  /** Keys that are required if another key has a given value; written as `if`/`then` for editors. */
  readonly 'x-needs'?: readonly KeyRequirement[];
  readonly $ref?: string;
}

export interface KeyRequirement {
  readonly key: string;
  readonly is: string | boolean;
  /** The key that is then required. */
  readonly needs: string;
}

export type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';

/** The type of a value that was validated against `S` and filled with its defaults. */
export type SchemaValue<S> =
  S extends Schema<infer V>
    ? V
    : S extends { readonly oneOf: readonly (infer B)[] }
      ? SchemaValue<B>
      : S extends { readonly const: infer C }
        ? C
        : S extends { readonly enum: readonly (infer E)[] }
          ? E
          : S extends { readonly type: readonly (infer T)[] }
            ? SettledAs<T, S>
            : S extends { readonly type: infer T }
              ? SettledAs<T, S>
              : unknown;

type SettledAs<T, S> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? readonly (S extends { readonly items: infer I } ? SchemaValue<I> : unknown)[]
          : T extends 'object'
            ? SettledObject<S>
            : never;

type SettledObject<S> = S extends { readonly properties: infer P }
  ? { readonly [K in keyof P as K extends Present<S> ? K : never]: SchemaValue<P[K]> } & {
      readonly [K in keyof P as K extends Present<S> ? never : K]?: SchemaValue<P[K]>;
    }
  : S extends { readonly additionalProperties: infer A }
    ? { readonly [key: string]: SchemaValue<A> }
    : { readonly [key: string]: unknown };

/** The keys that a parsed object always has: required keys, and keys with a default. */
type Present<S> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | (S extends { readonly properties: infer P }
      ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
      : never);

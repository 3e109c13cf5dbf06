/** The parsed form of a JSON text: every value with its position, in UTF-16 units of the text. */

/** One value of a JSON text, and where it stands. Members that come twice are both there, in their order. */
export type JsonNode =
  | {
      readonly kind: 'object';
      readonly start: number;
      readonly end: number;
      readonly members: readonly JsonMember[];
    }
  | {
      readonly kind: 'array';
      readonly start: number;
      readonly end: number;
      readonly items: readonly JsonNode[];
    }
  | StringNode
  | NumberNode
  | { readonly kind: 'true' | 'false' | 'null'; readonly start: number; readonly end: number };

/** What cannot be read as a JSON text within its limits; it tells where, and never what stands there. */
export interface JsonParseError {
  readonly kind: 'problem';
  readonly reason: 'malformed' | 'depth_max' | 'nodes_max';
  readonly at: number;
}

/** A number, as near as a double comes to it; its own digits stand in the text. */
export interface NumberNode {
  readonly kind: 'number';
  readonly start: number;
  readonly end: number;
  readonly value: number;
}

/** A string with its escapes read; `start` is at its opening quote, `end` behind its closing one. */
export interface StringNode {
  readonly kind: 'string';
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

export interface JsonMember {
  readonly key: StringNode;
  readonly value: JsonNode;
}

/** A JSON value by its place in a text: `root` is the value, and `text` may hold more than that. */
export interface JsonSource {
  readonly text: string;
  readonly root: JsonNode;
}

/** Other text in place of a part; several must not overlap. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

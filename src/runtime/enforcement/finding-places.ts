/** A finding's place, as `finding_places` in an audit event has it. */
export interface FindingPlace {
  /** The detector. */
  readonly rule_id: string;
  /** The number of the text in the payload, from 0. */
  readonly text_index: number;
  /** Offsets in UTF-16 units; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The sealed fingerprint of the value; `NO_FINGERPRINT` if it cannot be allowlisted. */
  readonly fingerprint: string;
}

/** Writes a place as an entry of `finding_places`: `openai.api_key 0 10 61 <fingerprint>`. */
export function formatFindingPlace({ rule_id, text_index, start, end, fingerprint }: FindingPlace): string {
  return `${rule_id} ${text_index} ${start} ${end} ${fingerprint}`;
}

const PLACE = /^(\S+) (\d{1,9}) (\d{1,9}) (\d{1,9}) (\S+)$/;

/** Parses `finding_places`. An entry that is not as `formatFindingPlace` writes it is `null`. */
export function parseFindingPlaces(recorded: unknown): readonly (FindingPlace | null)[] {
  if (!Array.isArray(recorded)) return [];
  return recorded.map((entry: unknown) => {
    const [, ruleId, textIndex, start, end, fingerprint] =
      (typeof entry === 'string' && PLACE.exec(entry)) || [];
    if (ruleId === undefined || fingerprint === undefined) return null;
    return {
      rule_id: ruleId,
      text_index: Number(textIndex),
      start: Number(start),
      end: Number(end),
      fingerprint,
    };
  });
}

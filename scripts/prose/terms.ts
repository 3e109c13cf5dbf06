/** A phrase that this project refuses, and the word to use instead. */
export interface RefusedTerm {
  /** Matches whole words in any case; a space in it stands for any white space. */
  readonly pattern: string;
  readonly use: string;
  /** A sentence that holds the phrase once and no other refused phrase. */
  readonly refuses: string;
  /** The sentence as it should be written. */
  readonly accepts: string;
}

/** The dictionary of refused phrases. Add a row with its two sentences; the test reads them. */
export const terms: readonly RefusedTerm[] = [
  {
    pattern: 'beside',
    use: 'next to, or: with',
    refuses: 'The file is beside the journal.',
    accepts: 'The file is next to the journal.',
  },
  {
    pattern: 'anew',
    use: 'again',
    refuses: 'Run the command anew.',
    accepts: 'Run the command again.',
  },
  {
    pattern: 'nobody',
    use: 'no caller, no user (say who)',
    refuses: 'The request waits for nobody.',
    accepts: 'No caller waits for the request.',
  },
  {
    pattern: 'somebody',
    use: 'a caller, a user (say who)',
    refuses: 'The index is read when somebody queries it.',
    accepts: 'The index is read when a caller queries it.',
  },
  {
    pattern: 'whoever',
    use: 'the caller (say who)',
    refuses: 'The event goes to whoever subscribed.',
    accepts: 'The event goes to each subscriber.',
  },
  {
    pattern: 'mend(s|ed|ing)?',
    use: 'fix',
    refuses: 'Mend the file and try again.',
    accepts: 'Fix the file and try again.',
  },
  {
    pattern: 'false alarms?',
    use: 'false positive',
    refuses: 'Report a false alarm.',
    accepts: 'Report a false positive.',
  },
  {
    pattern: 'let(s|ting)? be',
    use: 'allowlisted, allowlist',
    refuses: 'A value that is let be is dropped.',
    accepts: 'An allowlisted value is dropped.',
  },
  {
    pattern: 'com(es?|ing) to(?! an end\\b)|came to',
    use: 'evaluates to, results in, is',
    refuses: 'The condition comes to neither true nor false.',
    accepts: 'The condition must evaluate to true or false.',
  },
  {
    pattern: '(is|are) none that|none that',
    use: 'is not, no ... that',
    refuses: 'The rule is none that the policy has.',
    accepts: 'The policy does not have this rule.',
  },
  {
    pattern: 'is waited|are waited|waited (for|until)',
    use: 'wait (say who waits)',
    refuses: 'It is waited until the file is written.',
    accepts: 'The worker waits until the file is written.',
  },
  {
    pattern: 'in force',
    use: 'active',
    refuses: 'The previous policy stays in force.',
    accepts: 'The previous policy is still active.',
  },
  {
    pattern: '(put(s|ting)?|set) in(to)? place',
    use: 'install',
    refuses: 'The pack is put in place.',
    accepts: 'The command installs the pack.',
  },
  {
    pattern: '(put(s|ting)?|set) aside|booked|books',
    use: 'reserved, charged, ledger',
    refuses: 'The amount is put aside.',
    accepts: 'The amount is reserved.',
  },
  {
    pattern: 'on trial',
    use: 'in monitor mode',
    refuses: 'The rule is on trial.',
    accepts: 'The rule is in monitor mode.',
  },
  {
    pattern: 'resident process(es)?',
    use: 'daemon',
    refuses: 'The resident process answers hooks.',
    accepts: 'The daemon answers hooks.',
  },
  {
    pattern: 'canary|canaries',
    use: 'probe',
    refuses: 'The command sends a canary.',
    accepts: 'The command sends a probe.',
  },
  {
    pattern: 'chores?',
    use: 'maintenance job',
    refuses: 'A chore deletes old rows.',
    accepts: 'A maintenance job deletes old rows.',
  },
  {
    pattern: 'hear(s|d|ing|ings)?',
    use: 'evaluate, subscribe, receive',
    refuses: 'The rule is heard first.',
    accepts: 'The rule is evaluated first.',
  },
  {
    pattern: 'voices?|speakers?',
    use: 'matching rule, evaluation',
    refuses: 'Two voices decide the tag.',
    accepts: 'Two matching rules decide the tag.',
  },
  {
    // `prompts:speak` is a permission.
    pattern: '(?<!prompts:)(?:speaks?|spoke|spoken|speaking)',
    use: 'match, apply; of a protocol: use',
    refuses: 'The second rule speaks before it.',
    accepts: 'The second rule matches first.',
  },
  {
    pattern: 'told|tells',
    use: 'report, notify, distinguish, show',
    refuses: 'Each worker is told the result.',
    accepts: 'Each worker receives the result.',
  },
  {
    pattern: '(is|are|was|were|be|been|being|not|gets?) said',
    use: 'report, state',
    refuses: 'The error is said once.',
    accepts: 'The error is reported once.',
  },
  {
    pattern: '(is|are|was|were|be|been|being|not) asked',
    use: 'evaluated, requested, queried; skipped',
    refuses: 'The third rule was not asked.',
    accepts: 'The third rule was skipped.',
  },
  {
    pattern: 'objections?|breach(es)?',
    use: 'violation',
    refuses: 'The contract raises an objection.',
    accepts: 'The contract raises a violation.',
  },
  {
    pattern: 'standings?',
    use: 'status, effective settings (say which)',
    refuses: 'Show the standing of a budget.',
    accepts: 'Show the status of a budget.',
  },
  {
    pattern: 'stands?(?! for\\b)|stood',
    use: 'is',
    refuses: 'The name stands in the file.',
    accepts: 'The name is in the file.',
  },
  {
    pattern: 'roads?',
    use: 'path, call context',
    refuses: 'Every call takes one road.',
    accepts: 'Every call takes one path.',
  },
  {
    pattern: 'rests|resting|rested',
    use: 'cooldown; of a circuit breaker: open',
    refuses: 'The target rests for ten seconds.',
    accepts: 'The circuit breaker of the target is open for ten seconds.',
  },
  {
    pattern: 'desks?|seats?|crews?|turnstiles?|guests?',
    use: 'ledger, request context, worker context, worker pool, serial queue, client identity',
    refuses: 'Each worker has a desk.',
    accepts: 'Each worker has a context.',
  },
  {
    pattern: 'doors?',
    use: 'entry point, RPC server, endpoint',
    refuses: 'The parent opens a door for workers.',
    accepts: 'The parent starts an RPC server for workers.',
  },
  {
    pattern: 'rooms?',
    use: 'session, session pool, layer, space',
    refuses: 'Each client has a room.',
    accepts: 'Each client has a session.',
  },
  {
    pattern: 'sights?|sightings?',
    use: 'tool list snapshot, pin status',
    refuses: 'The first sighting of a tool pins it.',
    accepts: 'The first snapshot of a tool pins it.',
  },
  {
    pattern: 'lazily',
    use: 'on demand',
    refuses: 'The module is loaded lazily.',
    accepts: 'The module is loaded on demand.',
  },
  {
    pattern: 'look(s|ed|ing)? at',
    use: 'scan, inspect, check',
    refuses: 'The text is looked at once.',
    accepts: 'The text is scanned once.',
  },
  {
    pattern: 'lets? (\\S+ )?(in|through)(?! JSON)|letting (in|through)',
    use: 'admit, allow, accept',
    refuses: 'The rule lets it through.',
    accepts: 'The rule allows it.',
  },
  {
    pattern: 'le(aves?|aving|ft)( \\S+){0,4} away',
    use: 'remove, omit',
    refuses: 'Leave `Expect` away.',
    accepts: 'Remove the `Expect` header.',
  },
  {
    pattern: 'and the like',
    use: 'name the things',
    refuses: 'Approvals and the like are stored.',
    accepts: 'Approvals, sessions and budgets are stored.',
  },
  {
    pattern: 'dearer|dearest',
    use: 'slower, more expensive',
    refuses: 'Two signals are dearer than one.',
    accepts: 'Two signals are slower than one.',
  },
  {
    pattern: 'has read|have read',
    use: 'session taint tags',
    refuses: 'Clear what the session has read.',
    accepts: 'Clear the taint tags of the session.',
  },
  {
    pattern: 'forgotten',
    use: 'cleared, deleted',
    refuses: 'The session is forgotten after a day.',
    accepts: 'The session is deleted after a day.',
  },
  {
    pattern: 'is no name of|by what is',
    use: 'is not a valid ... name',
    refuses: 'The value is no name of a secret.',
    accepts: 'The value is not a valid secret name.',
  },
  {
    pattern: 'waits for a person|a person (has to|must|can|may|decides?|approves?)|persons',
    use: 'operator, approver, administrator',
    refuses: 'The call waits for a person.',
    accepts: 'The call waits for an approver.',
  },
  {
    pattern: 'wrong in this program',
    use: 'Internal error (this is a bug)',
    refuses: 'Something is wrong in this program.',
    accepts: 'Internal error (this is a bug).',
  },
  {
    pattern: 'audit trails?',
    use: 'audit log',
    refuses: 'The event is in the audit trail.',
    accepts: 'The event is in the audit log.',
  },
  {
    pattern: '(is|are|was|were|be|been|being|not|gets?) written down',
    use: 'recorded',
    refuses: 'The decision is written down first.',
    accepts: 'The decision is recorded first.',
  },
  {
    pattern: 'go(es|ing)? on|went on|gone on',
    use: 'continue',
    refuses: 'The stream goes on after the error.',
    accepts: 'The stream continues after the error.',
  },
  {
    pattern: 'for good',
    use: 'permanently',
    refuses: 'The token is revoked for good.',
    accepts: 'The token is revoked permanently.',
  },
  {
    pattern: 'tak(e|es|ing) (\\S+ ){0,2}away|taken away',
    use: 'remove',
    refuses: 'The command takes the hook away.',
    accepts: 'The command removes the hook.',
  },
  {
    pattern:
      '(service|program|protocol|format|parser|detector|hook|agent|guard|policy|rule|worker|parent|client|server|schema)s? (does not |do not )?knows?',
    use: 'supports, defines, contains',
    refuses: 'A member that the protocol does not know is refused.',
    accepts: 'A member that the protocol does not define is refused.',
  },
  {
    pattern: '(needs?|requires?|asks?|by|from) a person',
    use: 'operator, approver, administrator',
    refuses: 'The change needs a person.',
    accepts: 'The change requires an operator.',
  },
];

"""The notation of tasks.yaml in short, as a model is shown it."""

NOTATION = """\
A task family is one YAML item. Every row of `ground` is one task; its columns are slots.

- id: snake_case_name            # new, unlike those of the families that there are
  about: One sentence on what the family tests.
  ground:                        # key: a column that tells the rows apart
    key: member_id
    sql: SELECT member_id, name, title FROM ...
  vary: {due: {date: ["2026-04-01", "2026-04-30"]}}   # optional slots; each must be used. Also
                                 # {int: [1, 9]}, {float: [1, 2, 0.1]}, {choice: [a, b]}
  cases: {free: NOT lent, taken: lent}   # optional: two or more SQL conditions over the grounding,
                                 # which cover each row exactly once, for tasks of different work
  user:
    says: ["A request with {name} and {due}.", "The same in other words, {name}, {due}."]
    knows: {dob: "Born {dob}."}  # optional: told only when gold has a step `ask: dob`
    agrees_if: {mentions: ["{title}", "{name}"]}   # optional: consent to a step `confirm: "..."`
  answer:                        # optional: the fields of a tool `submit`, for what is to be learnt
    loans: {type: array, items: integer, compare: set, description: The loans.}
    outcome: {enum: [done, refused], description: What came of it.}
  oracle:                        # SQL that computes a field of the answer, independently of gold;
    loans: SELECT loan_id FROM loans WHERE member_id = :member_id     # slots as :name
  gold:                          # the right solution, step by step
  - find_member: {name: "{name}"}          # a call of a tool, by the tool's name, with arguments
    save: {member: $.member_id}            # JSONPath into the result; used as $member
  - for_each: {loan: $loans, do: [{renew: {loan_id: $loan, due: "{due}"}}]}
  - if: "$count > 3"                       # optional conditions over saved values and {slots}
    do: [...]
    else: [...]
  - taken:                                 # steps of one case only
    - lend: {member_id: $member, book_id: $book}
      fails: conflict                      # the call is meant to fail with this category
  - submit: {loans: $loans, outcome: done} # once, if there is `answer`
  - say: "{title} is lent to {name}."      # the reply, last
  gates: [state, answer, {no_write_before: [confirm]}]   # only if gold asks or confirms

Rules that the proof enforces:
- A slot alone keeps its type: "{due}". Inside a longer text a saved value is {member}, too; alone
  it is $member. Quote every text that holds braces, a colon or $.
- Gold may use only what the user says, what earlier results gave (`save`), or constants of the
  policy. It must look up each id by a tool; the user does not say ids that only a database knows.
- Every call of gold must succeed (or have `fails`) and must matter; nothing saved is left unused.
- What the user asks to learn is in `submit` with an `oracle`, and it differs between tasks.
- The reply states what was done, with the values of this task, and nothing about other people.
- Ordered lists of a result are ordered by the tool; do not rely on an order that it does not give.
- A family needs at least two tasks; five or more are better.
- Do not use the keys `source`, `honest` and `reply.unjudged`, gates of your own, or YAML aliases.
"""

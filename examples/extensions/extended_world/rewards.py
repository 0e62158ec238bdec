"""Gates and scores of this world; each applies to all of its families unless `families=` says."""

from synth.rewards import gate, reward


@gate
def reads_no_other_room(evidence):
    calls = [call for call in evidence.calls if call.ok]  # a call that fails read nothing
    other = [call for call in calls if call.arguments["room"] != evidence.task.key]
    return not other, f"{len(other)} calls about another room"


@reward(weight=0.2)
def brief(evidence):
    return min(1.0, 10 / max(1, len(evidence.said.split())))

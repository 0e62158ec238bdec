"""A user who tells all at once: `synth run users.kind=extensions.user:Eager`."""

from synth.user import User, UserConversation, UserTurn


class Eager(User, UserConversation):
    name, asks_model, topics = "eager", False, None

    def __init__(self, options, model=None):
        pass

    def start(self, role, seed):
        rollout = Eager(None)
        rollout.topics = dict(role.knows)
        return rollout

    async def reply(self, text):
        facts, self.topics = self.topics, {}
        return UserTurn(" ".join(t.says for t in facts.values()), ends=not facts, told=tuple(facts))

"""A look-up table in memory: `environment: extensions.environment:LookUpTable` in world.yaml."""

from envs.environments.external import ExternalExecutableEnvironment


class LookUpTable(ExternalExecutableEnvironment):
    """Words and what they mean; executors get this object."""

    def start(self, rows):
        self.meanings = {row["word"]: row["meaning"] for row in rows["entry"]}

    def snapshot(self):
        return {"entry": [{"word": w, "meaning": m} for w, m in self.meanings.items()]}

